import BrokerModel
import BrokerVault
import Testing

/// The promises of ``RowSnapshot`` and ``RowTransaction``, for every store that there is.
@Suite("The rows of every store")
struct StoredRowTests {
    @Test("a record takes the place of the one with its key, and keeps the id", arguments: StoreKind.allCases)
    func replacing(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try store.put([.sample("a"), .sample("b")])
            let before = try store.all()
            try store.put([.sample("a", kind: .refreshToken, page: 9, in: Sample.other, box: "new")])
            let row = try #require(try store.records(.id(before[0].id)).first)
            #expect(row.partition == 1001 && row.kind == Int64(RecordKind.refreshToken.rawValue))
            #expect(row.bucketKey.first == 9 && row.box == Array("new".utf8))
            try store.write { (rows) throws(VaultError) in try rows.replaceBox(of: row, by: [1]) }
            let replaced = try #require(try store.records(.id(row.id)).first)
            #expect(replaced.box == [1] && replaced.rowKey == row.rowKey && replaced.partition == 1001)
            #expect(try store.all().last == before[1])
        }
    }

    @Test("rows are found by bucket, page and kind", arguments: StoreKind.allCases)
    func selections(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let (a, b) = (SealedRecord.sample("a"), SealedRecord.sample("b", page: 255))
            let c = SealedRecord.sample("c", in: Sample.other)
            let d = SealedRecord.sample("d", kind: .refreshToken, page: 2)
            try store.put([a, b, c, d])
            func keys(_ wanted: RowSelection) throws(VaultError) -> Set<[UInt8]> {
                Set(try store.records(wanted).map(\.rowKey))
            }
            #expect(try keys(.bucket(a.bucketKey)) == [a.rowKey])
            #expect(try keys(.page(ManifestPlace(Sample.me, page: 1))) == [a.rowKey])
            #expect(try keys(.page(ManifestPlace(Sample.me, page: 255))) == [b.rowKey])
            #expect(try keys(.page(ManifestPlace(Sample.me, page: 0))) == [])
            #expect(try keys(.kind(.account, Sample.me)) == [a.rowKey, b.rowKey])
            #expect(try keys(.kind(.refreshToken, Sample.me)) == [d.rowKey])
            #expect(try keys(.kind(.refreshToken, Sample.other)) == [])
        }
    }

    @Test("rows come some at a time in the order of their ids", arguments: StoreKind.allCases)
    func order(kind: StoreKind) async throws {
        try await kind.withStore { store in
            // Keys and pages in another order than ids.
            let names = ["e", "a", "d", "b", "c"]
            try store.put(names.enumerated().map { SealedRecord.sample($1, page: UInt8(9 - $0)) })
            try store.put([.sample("other", in: Sample.other)])
            try store.put([.sample("a", page: 7, box: "new")])
            for wanted in [
                { RowSelection.next(.account, Sample.me, after: $0, atMost: 2) }, { .any(after: $0, atMost: 2) },
            ] as [(Int64) -> RowSelection] {
                var (found, last) = ([StoredRow](), Int64.min)
                while true {
                    let some = try store.records(wanted(last))
                    guard let end = some.last?.id else { break }
                    #expect(some.count <= 2)
                    found += some
                    last = end
                }
                #expect(found.prefix(5).map(\.rowKey) == names.map { SealedRecord.sample($0).rowKey })
                #expect(found.map(\.id) == found.map(\.id).sorted())
            }
            #expect(try store.records(.next(.account, Sample.me, after: .min, atMost: 100)).count == 5)
            #expect(try store.all().count == 6)
        }
    }

    // MARK: Header, keys, manifest

    @Test("header, keys, roots and pages are kept under their names, and removed by nil", arguments: StoreKind.allCases)
    func named(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let place = ManifestPlace(Sample.me, page: 255)
            try store.write { (rows) throws(VaultError) in
                try rows.putHeader([9], named: "key-check")
                try rows.putHeader([8], named: "added-key:file")
                try rows.putHeader(nil, named: "vault-id")
                for (number, partition) in [(1, Sample.me), (2, .wholeVault)] as [(UInt8, Partition)] {
                    try rows.putWrappedKey([number], of: partition)
                    try rows.putManifest([number], of: partition)
                    try rows.putManifest([number, number], of: partition)
                }
                try rows.putManifestPage([3], at: place)
                try rows.putManifestPage([4], at: ManifestPlace(Sample.other, page: 0))
            }
            let (header, keys) = try store.read { (rows) throws(VaultError) in
                (try rows.header(), try rows.wrappedKeys())
            }
            #expect(header == ["key-check": [9], "added-key:file": [8]])
            #expect(keys == [1000: [1], Int64(UInt32.max): [2]])
            for (partition, box, pages) in [
                (Sample.me, [1, 1], [255: [3]]), (Sample.other, nil, [0: [4]]), (.wholeVault, [2, 2], [:]),
            ] as [(Partition, [UInt8]?, [UInt8: [UInt8]])] {
                let found = try store.read { (rows) throws(VaultError) in
                    (
                        root: try rows.manifest(of: partition), pages: try rows.manifestPages(of: partition),
                        key: try rows.wrappedKey(of: partition), page: try rows.manifestPage(place)
                    )
                }
                #expect(found.root == box && found.pages == pages && found.page == [3])
                #expect(found.key == keys[Int64(partition.uid)])
            }
            let (pages, left) = try store.write { (rows) throws(VaultError) in
                try rows.putManifestPage(nil, at: place)
                try rows.putWrappedKey(nil, of: .wholeVault)
                return (try rows.manifestPages(of: Sample.me), try rows.wrappedKeys())
            }
            #expect(pages.isEmpty && left == [1000: [1]])
        }
    }

    @Test("an erased partition has nothing left, and its neighbours keep everything", arguments: StoreKind.allCases)
    func erasing(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let partitions = [Partition(uid: 999), Sample.me, Sample.other]
            try store.write { (rows) throws(VaultError) in
                for partition in partitions {
                    try rows.put(.sample("row \(partition.uid)", in: partition))
                    try rows.putWrappedKey([1], of: partition)
                    try rows.putManifest([2], of: partition)
                    for page in [0, 255] as [UInt8] {
                        try rows.putManifestPage([3], at: ManifestPlace(partition, page: page))
                    }
                    try rows.noteMissing(kind: 1, in: partition)
                }
            }
            try store.write { (rows) throws(VaultError) in try rows.erase(Sample.me) }
            for partition in partitions {
                let found = try store.read { (rows) throws(VaultError) in
                    (
                        key: try rows.wrappedKey(of: partition), root: try rows.manifest(of: partition),
                        pages: try rows.manifestPages(of: partition).count,
                        rows: try rows.records(.kind(.account, partition)).count
                    )
                }
                if partition == Sample.me {
                    #expect(found.key == nil && found.root == nil && found.pages == 0 && found.rows == 0)
                } else {
                    #expect(found.key == [1] && found.root == [2] && found.pages == 2 && found.rows == 1)
                }
            }
            #expect(try store.quarantined() == [0, 2])
        }
    }

    // MARK: Quarantine and counts

    @Test("a row that is set aside is counted, and no longer found", arguments: StoreKind.allCases)
    func quarantine(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try store.put([.sample("a"), .sample("b")])
            let row = try #require(try store.all().first)
            try store.write { (rows) throws(VaultError) in
                try rows.putWrappedKey([1], of: Sample.me)
                try rows.putWrappedKey([1], of: Sample.other)
                try rows.setAside(row)
                try rows.noteMissing(kind: 1, in: Sample.other)
                try rows.noteMissing(kind: 1, in: Partition(uid: 77))
            }
            #expect(try store.quarantined() == [1, 2])
            #expect(try store.all().map(\.rowKey) == [SealedRecord.sample("b").rowKey])
            #expect(try store.records(.bucket(row.bucketKey)).isEmpty)
            // A new row of the same key is another one.
            try store.put([.sample("a")])
            #expect(try store.all().count == 2)
            // 77 has no key.
            try store.write { (rows) throws(VaultError) in try rows.emptyQuarantine(of: Sample.other) }
            #expect(try store.quarantined() == [1, 0])
        }
    }

    @Test("rows are counted by partition and by kind", arguments: StoreKind.allCases)
    func counts(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try store.write { (rows) throws(VaultError) in
                for partition in [Sample.other, Sample.me, .wholeVault] { try rows.putWrappedKey([1], of: partition) }
                for name in ["a", "b"] { try rows.put(.sample(name)) }
                try rows.put(.sample("c", kind: .auditBlock, box: "longer box"))
                try rows.put(.sample("d", in: Partition(uid: 77)))
            }
            let log: Set<RecordKind> = [.auditBlock, .auditHead]
            let found = try store.read { (rows) throws(VaultError) in
                (
                    without: try rows.recordCount(without: log), all: try rows.recordCount(without: []),
                    kinds: try rows.counts(in: Sample.me), partitions: try rows.counts(without: log)
                )
            }
            #expect(found.without == 3 && found.all == 4)
            let (account, block) = (Int64(RecordKind.account.rawValue), Int64(RecordKind.auditBlock.rawValue))
            #expect(
                found.kinds.sorted { $0.bytes < $1.bytes } == [
                    RowCount(number: account, rows: 2, bytes: 6), RowCount(number: block, rows: 1, bytes: 10),
                ])
            #expect(
                found.partitions == [
                    RowCount(number: 1000, rows: 2, bytes: 16), RowCount(number: 1001, rows: 0, bytes: 0),
                    RowCount(number: Int64(UInt32.max), rows: 0, bytes: 0),
                ])
        }
    }
}

import BrokerModel
import BrokerTestSupport
import BrokerVault
import Foundation
import Testing

/// The promises of ``RowStore``, for every store that there is.
@Suite("Every store of rows")
struct RowStoreTests {
    // MARK: From making to closing

    @Test("a new vault is empty, and examined with its header and the current format", arguments: StoreKind.allCases)
    func making(kind: StoreKind) async throws {
        try await withTestBed { bed in
            let store = kind.store(in: try StateDirectory.open(creating: bed.path("state")))
            #expect(try !store.exists())
            try store.make(StoreKind.header)
            #expect(try store.exists())
            for _ in 0..<2 {
                let (format, header) = try store.examine()
                #expect(format == VaultFormat.current && header == StoreKind.header)
            }
            try store.open()
            defer { store.close() }
            #expect(try store.all().isEmpty)
            #expect(store.byteCount > 0)
        }
    }

    @Test("a closed store neither reads nor writes, and is closed twice without harm", arguments: StoreKind.allCases)
    func closing(kind: StoreKind) async throws {
        try await withTestBed { bed in
            let store = kind.store(in: try StateDirectory.open(creating: bed.path("state")))
            try store.make(StoreKind.header)
            func expectClosed() {
                #expect(throws: VaultError.closed) { try store.all() }
                #expect(throws: VaultError.closed) { try store.put([.sample("a")]) }
            }
            expectClosed()
            try store.open()
            try store.put([.sample("a")])
            store.close()
            expectClosed()
            store.close()
            try store.checkpoint()
        }
    }

    @Test("another store at the same place has what was committed", arguments: StoreKind.allCases)
    func durability(kind: StoreKind) async throws {
        try await withTestBed { bed in
            let directory = try StateDirectory.open(creating: bed.path("state"))
            let first = kind.store(in: directory)
            try first.make(StoreKind.header)
            try first.open()
            try first.put([.sample("a"), .sample("b")])
            let before = try first.all()
            first.close()
            let second = kind.store(in: directory)
            #expect(try second.examine().header == StoreKind.header)
            try second.open()
            defer { second.close() }
            #expect(try second.all() == before)
        }
    }

    // MARK: Transactions and snapshots

    @Test("a transaction that fails leaves nothing behind, and the next one works", arguments: StoreKind.allCases)
    func atomicity(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try store.put([.sample("a")])
            let before = try store.all()
            #expect(throws: VaultError.recordDamaged) {
                try store.write { (rows) throws(VaultError) in
                    try rows.put(.sample("a", box: "new"))
                    try rows.put(.sample("b"))
                    try rows.putManifest([1], of: .wholeVault)
                    try rows.putHeader([9], named: "key-check")
                    try rows.putWrappedKey([5], of: Sample.me)
                    try rows.noteMissing(kind: 1, in: Sample.me)
                    throw VaultError.recordDamaged
                }
            }
            #expect(try store.all() == before)
            let found = try store.read { (rows) throws(VaultError) in
                (header: try rows.header(), keys: try rows.wrappedKeys(), root: try rows.manifest(of: .wholeVault))
            }
            #expect(found.header == StoreKind.header && found.keys.isEmpty && found.root == nil)
            #expect(try store.quarantined() == [0, 0])
            try store.put([.sample("b")])
            #expect(try store.all().count == 2)
        }
    }

    @Test("a transaction sees its own changes, and a snapshot beside it does not", arguments: StoreKind.allCases)
    func ownChanges(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try store.put([.sample("a", box: "old")])
            let (inside, beside) = try store.write { (rows) throws(VaultError) in
                try rows.put(.sample("a", box: "new"))
                return (try rows.records(.any(after: .min, atMost: 9)), try store.all())
            }
            #expect(inside.map(\.box) == [Array("new".utf8)] && beside.map(\.box) == [Array("old".utf8)])
            #expect(try store.all() == inside)
        }
    }

    @Test("a snapshot stays at its moment while others commit", arguments: StoreKind.allCases)
    func isolation(kind: StoreKind) async throws {
        try await kind.withStore { store in
            try store.put([.sample("a")])
            let (before, after, root) = try store.read { (rows) throws(VaultError) in
                let before = try rows.records(.any(after: .min, atMost: 9))
                try store.write { (rows) throws(VaultError) in
                    try rows.put(.sample("b"))
                    try rows.remove(rowKey: SealedRecord.sample("a").rowKey)
                    try rows.putManifest([1], of: Sample.me)
                }
                return (before, try rows.records(.any(after: .min, atMost: 9)), try rows.manifest(of: Sample.me))
            }
            #expect(before.count == 1 && after == before && root == nil)
            #expect(try store.all().map(\.rowKey) == [SealedRecord.sample("b").rowKey])
        }
    }

    @Test("after a checkpoint no copy of a removed row is left", arguments: StoreKind.allCases)
    func checkpoint(kind: StoreKind) async throws {
        try await withTestBed { bed in
            let store = kind.store(in: try StateDirectory.open(creating: bed.path("state")))
            try store.make(StoreKind.header)
            try store.open()
            defer { store.close() }
            let word = "a-box-that-is-removed"
            try store.put([.sample("a", box: word)])
            try store.write { (rows) throws(VaultError) in try rows.remove(rowKey: SealedRecord.sample("a").rowKey) }
            try store.checkpoint()
            #expect(!store.isCheckpointDue)
            for name in try FileManager.default.contentsOfDirectory(atPath: bed.path("state")) {
                let file = try Data(contentsOf: URL(filePath: bed.path("state") + "/" + name))
                #expect(file.range(of: Data(word.utf8)) == nil, "\(name)")
            }
        }
    }
}

import BrokerModel
import BrokerTestSupport
import BrokerVault
import BrokerVaultSQLite

/// The stores of rows. ``RowStoreTests`` and ``StoredRowTests`` expect the same of each.
enum StoreKind: CaseIterable, Sendable {
    case sqlite

    static let header = ["vault-id": [UInt8](repeating: 7, count: 16), "key-check": [1, 2, 3]]

    func store(in directory: StateDirectory) -> any RowStore {
        switch self {
        case .sqlite: SQLiteStore(in: directory)
        }
    }

    /// A store with a new, open vault.
    func withStore(_ body: (any RowStore) throws -> Void) async throws {
        try await withTestBed { bed in
            let store = store(in: try StateDirectory.open(creating: bed.path("state")))
            try store.make(Self.header)
            try store.open()
            defer { store.close() }
            try body(store)
        }
    }
}

extension RowStore {
    func put(_ records: [SealedRecord]) throws(VaultError) {
        try write { (rows) throws(VaultError) in for record in records { try rows.put(record) } }
    }

    func records(_ wanted: RowSelection) throws(VaultError) -> [StoredRow] {
        try read { (rows) throws(VaultError) in try rows.records(wanted) }
    }

    func all() throws(VaultError) -> [StoredRow] { try records(.any(after: .min, atMost: 100)) }

    /// The number of rows that were set aside, and of missing ones.
    func quarantined() throws(VaultError) -> [Int] {
        let (moved, missing) = try read { (rows) throws(VaultError) in try rows.quarantined() }
        return [moved, missing]
    }
}

extension SealedRecord {
    /// - Parameter page: the first byte of the bucket's key.
    static func sample(
        _ name: String, kind: RecordKind = .account, page: UInt8 = 1, in partition: Partition = Sample.me,
        box: String = "box"
    ) -> SealedRecord {
        let rowKey = Array(name.utf8) + [UInt8](repeating: 0, count: 32 - name.utf8.count)
        return SealedRecord(
            partition: partition, kind: kind, rowKey: rowKey, bucketKey: [page] + rowKey.dropLast(),
            box: Array(box.utf8))
    }
}

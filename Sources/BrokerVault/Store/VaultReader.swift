import BrokerModel
import BrokerValues

/// Reads rows together with what the manifest says about them: a few microseconds each, from any thread.
final class VaultReader: Sendable {
    /// Rows, and the manifest's entries for them, as of one moment.
    struct Snapshot: Sendable {
        var root: [UInt8]?
        var pages: [UInt8: [UInt8]]
        var rows: [StoredRow]
    }

    private let store: any RowStore
    private let errors: Counter

    /// - Parameter errors: counts the reads that fail.
    init(_ store: any RowStore, errors: Counter) {
        self.store = store
        self.errors = errors
    }

    func read(bucketKey: [UInt8], at place: ManifestPlace) throws(VaultError) -> Snapshot {
        try read { (rows) throws(VaultError) in
            let page = try rows.manifestPage(place)
            return Snapshot(
                root: try rows.manifest(of: place.partition), pages: page.map { [place.page: $0] } ?? [:],
                rows: try rows.records(.bucket(bucketKey)))
        }
    }

    func read(_ kind: RecordKind, in partition: Partition) throws(VaultError) -> Snapshot {
        try read { (rows) throws(VaultError) in
            Snapshot(
                root: try rows.manifest(of: partition), pages: try rows.manifestPages(of: partition),
                rows: try rows.records(.kind(kind, partition)))
        }
    }

    /// Some rows of a kind, in the order of their ids.
    func read(
        _ kind: RecordKind, after id: Int64, atMost count: Int, in partition: Partition
    ) throws(VaultError) -> Snapshot {
        try read { (rows) throws(VaultError) in
            let found = try rows.records(.next(kind, partition, after: id, atMost: count))
            var pages: [UInt8: [UInt8]] = [:]
            for page in Set(found.compactMap(\.bucketKey.first)) {
                pages[page] = try rows.manifestPage(ManifestPlace(partition, page: page))
            }
            return Snapshot(root: try rows.manifest(of: partition), pages: pages, rows: found)
        }
    }

    func wrappedKey(of partition: Partition) throws(VaultError) -> [UInt8]? {
        try read { (rows) throws(VaultError) in try rows.wrappedKey(of: partition) }
    }

    func wrappedKeys() throws(VaultError) -> [Partition: [UInt8]] {
        var keys: [Partition: [UInt8]] = [:]
        for (number, wrapped) in try read({ (rows) throws(VaultError) in try rows.wrappedKeys() }) {
            guard let partition = Partition(storedAs: number) else {
                throw .damaged(
                    "The vault has a data key for a uid that no system has. Restore vault.db from a backup.")
            }
            keys[partition] = wrapped
        }
        return keys
    }

    /// The number of cached records; the audit log counts its own entries.
    func recordCount() throws(VaultError) -> Int {
        try read { (rows) throws(VaultError) in try rows.recordCount(without: RecordKind.ofAuditLog) }
    }

    /// The number of rows of each kind, and their bytes; the kind is nil if no broker has it.
    func counts(in partition: Partition) throws(VaultError) -> [(kind: RecordKind?, count: Int, bytes: Int)] {
        try read { (rows) throws(VaultError) in try rows.counts(in: partition) }
            .map { (RecordKind(storedAs: $0.number), $0.rows, $0.bytes) }
    }

    /// The users with records, or a key for them, in the order of their uids.
    func partitions() throws(VaultError) -> [PartitionSummary] {
        try read { (rows) throws(VaultError) in try rows.counts(without: RecordKind.ofAuditLog) }.compactMap { count in
            guard let partition = Partition(storedAs: count.number), partition != .wholeVault else { return nil }
            return PartitionSummary(partition: partition, records: count.rows, bytes: count.bytes)
        }
    }

    func read<Result: Sendable>(
        _ body: @Sendable (any RowSnapshot) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        do throws(VaultError) {
            return try store.read(body)
        } catch {
            errors.add()
            throw error
        }
    }
}

import BrokerModel

/// The rows of one moment. Use it only in the closure that it was handed to.
package protocol RowSnapshot: AnyObject {
    /// Named values in the clear, which are needed before the key.
    func header() throws(VaultError) -> [String: [UInt8]]

    func wrappedKey(of partition: Partition) throws(VaultError) -> [UInt8]?

    /// By the number of the partition: somebody may have added one that no system has.
    func wrappedKeys() throws(VaultError) -> [Int64: [UInt8]]

    /// The sealed root of a partition's manifest; that of ``Partition/wholeVault`` lists the roots.
    func manifest(of partition: Partition) throws(VaultError) -> [UInt8]?

    func manifestPage(_ place: ManifestPlace) throws(VaultError) -> [UInt8]?

    func manifestPages(of partition: Partition) throws(VaultError) -> [UInt8: [UInt8]]

    func records(_ wanted: RowSelection) throws(VaultError) -> [StoredRow]

    /// The number of all record rows, without those of some kinds. Does not read the rows.
    func recordCount(without kinds: Set<RecordKind>) throws(VaultError) -> Int

    /// The record rows of a partition, by kind.
    func counts(in partition: Partition) throws(VaultError) -> [RowCount]

    /// The partitions that have a key, in the order of their numbers. `kinds` are not counted in `rows`, but in `bytes`.
    func counts(without kinds: Set<RecordKind>) throws(VaultError) -> [RowCount]

    /// The number of rows that were set aside, and of those noted as missing.
    func quarantined() throws(VaultError) -> (moved: Int, missing: Int)
}

/// Changes, and the rows as they are after them.
package protocol RowTransaction: RowSnapshot {
    /// - Parameter value: nil removes it.
    func putHeader(_ value: [UInt8]?, named name: String) throws(VaultError)

    /// - Parameter wrapped: nil removes it.
    func putWrappedKey(_ wrapped: [UInt8]?, of partition: Partition) throws(VaultError)

    func putManifest(_ box: [UInt8], of partition: Partition) throws(VaultError)

    /// - Parameter box: nil removes the page.
    func putManifestPage(_ box: [UInt8]?, at place: ManifestPlace) throws(VaultError)

    /// Takes the place of the row with the same key, and keeps its id.
    func put(_ record: SealedRecord) throws(VaultError)

    /// As ``put(_:)``, for a row that this transaction has read: where only the box differs, that takes a fraction of the time.
    func replaceBox(of row: StoredRow, by box: [UInt8]) throws(VaultError)

    func remove(rowKey: [UInt8]) throws(VaultError)

    /// Moves a row as it is into quarantine, where no selection finds it.
    func setAside(_ row: StoredRow) throws(VaultError)

    /// Notes a row that is gone.
    func noteMissing(kind: UInt8, in partition: Partition) throws(VaultError)

    /// Removes what was set aside or noted for a partition, and for partitions without a key: a row that was tampered with may
    /// name any.
    func emptyQuarantine(of partition: Partition) throws(VaultError)

    /// Removes all of a partition: rows, set aside or not, manifest and key.
    func erase(_ partition: Partition) throws(VaultError)

    /// Turns a vault of an older format into an empty shell of the current one: the rows stay, and are not sealed anew.
    func raiseFormat() throws(VaultError)
}

import BrokerModel
import BrokerValues
import BrokerVault
import BrokerVaultSQLite
import Logging
import Synchronization

/// A real vault in which a test can cause faults: writes or lists that fail, records that no longer open.
package final class FaultyVault: RecordVault, VaultKeys, BackupStore, PartitionStore {
    private struct Faults: Sendable {
        var commit: VaultError?
        var loadAll: VaultError?
        var unreadable: [RecordKind: VaultError] = [:]
        var damaged: Set<RecordKind> = []
        var isRolledBack = false
        var afterLoad: (kind: RecordKind, run: @Sendable () -> Void)?
        var beforeLock: (@Sendable () -> Void)?
        var rowsOfLastCommit = 0
        var gate: Gate?
        /// The partition whose changes wait; `nil` for all.
        var heldPartition: Partition?
        /// Changes that wait at the gate, or have waited.
        var held = 0
        var commits = 0
        var backupGate: Gate?
        var heldBackups = 0
    }

    private let vault: Vault
    private let faults = Watched(Faults())
    private let listings = Mutex(0)

    package init(_ vault: Vault) { self.vault = vault }

    /// A vault in a separate folder.
    package static func open(in folder: String) async throws(VaultError) -> FaultyVault {
        FaultyVault(try await Vault.open(in: folder))
    }

    package func close() async { await vault.close() }

    /// How often all records of a kind were read.
    package var readsOfAll: Int { listings.withLock { $0 } }

    package func failWriting(_ error: VaultError?) { faults.withLock { $0.commit = error } }
    package func rollBack() { faults.withLock { $0.isRolledBack = true } }
    package func failReadingAll(_ error: VaultError?) { faults.withLock { $0.loadAll = error } }

    /// From now on no bucket of this kind can be read.
    package func failReading(_ kind: RecordKind, _ error: VaultError?) {
        faults.withLock { $0.unreadable[kind] = error }
    }

    /// From now on no secret of these kinds opens.
    package func damage(_ kinds: Set<RecordKind>) { faults.withLock { $0.damaged = kinds } }

    /// Runs once, when the next bucket of a kind was read but its reader does not have it yet.
    package func afterNextLoad(of kind: RecordKind, _ body: @escaping @Sendable () -> Void) {
        faults.withLock { $0.afterLoad = (kind, body) }
    }

    /// Runs once, just before the keys go.
    package func beforeNextLock(_ body: @escaping @Sendable () -> Void) { faults.withLock { $0.beforeLock = body } }

    /// The number of rows that the last transaction wrote and removed.
    package var rowsOfLastCommit: Int { faults.withLock { $0.rowsOfLastCommit } }

    /// From now on writes wait for the gate; those of one partition, or all.
    package func hold(until gate: Gate, of partition: Partition? = nil) {
        faults.withLock { ($0.gate, $0.held, $0.heldPartition) = (gate, 0, partition) }
    }

    /// From now on a new backup waits for the gate, or until its caller gives up.
    package func holdBackups(until gate: Gate) { faults.withLock { ($0.backupGate, $0.heldBackups) = (gate, 0) } }

    /// The number of backups that wait, or have waited.
    package var heldBackups: Int { faults.withLock { $0.heldBackups } }

    package func waitForHeldBackups(_ count: Int = 1) async throws {
        try await faults.until { $0.heldBackups >= count }
    }

    /// The number of requested changes.
    package var commits: Int { faults.withLock { $0.commits } }

    /// The number of changes that wait, or have waited.
    package var held: Int { faults.withLock { $0.held } }

    /// Waits until this many changes wait, or have waited.
    package func waitForHeld(_ count: Int = 1) async throws { try await faults.until { $0.held >= count } }

    package func load<Record: VaultRecord>(
        _ type: Record.Type, bucket: [String], in partition: Partition
    ) throws(VaultError) -> [StoredRecord<Record>] {
        // All of a kind are in a bucket without a name.
        if bucket.isEmpty { try noteListing() }
        if let error = faults.withLock({ $0.unreadable[Record.kind] }) { throw error }
        let records = try vault.load(type, bucket: bucket, in: partition)
        let afterLoad = faults.withLock { faults in
            guard faults.afterLoad?.kind == Record.kind else { return nil as (@Sendable () -> Void)? }
            defer { faults.afterLoad = nil }
            return faults.afterLoad?.run
        }
        afterLoad?()
        return records
    }

    private func noteListing() throws(VaultError) {
        listings.withLock { $0 += 1 }
        if let error = faults.withLock({ $0.loadAll }) { throw error }
    }

    package func loadAll<Record: VaultRecord>(
        _ type: Record.Type, in partition: Partition
    ) throws(VaultError) -> [StoredRecord<Record>] {
        try noteListing()
        return try vault.loadAll(type, in: partition)
    }

    package func loadPage<Record: VaultRecord>(
        _ type: Record.Type, after row: Int64, atMost count: Int, in partition: Partition
    ) throws(VaultError) -> RecordPage<Record> {
        try vault.loadPage(type, after: row, atMost: count, in: partition)
    }

    package func beginBackup(
        with passphrase: Secret, at now: NumericDate
    ) async throws(BackupError) -> any BackupSealing {
        let gate = faults.withLock { faults in
            if faults.backupGate != nil { faults.heldBackups += 1 }
            return faults.backupGate
        }
        await withTaskCancellationHandler {
            await gate?.wait()
        } onCancel: {
            gate?.open()
        }
        return try await vault.beginBackup(with: passphrase, at: now)
    }

    package func gatherBackup() throws(BackupError) -> any GatheredBackup { try vault.gatherBackup() }

    package func seal<Record: VaultRecord>(
        _ record: Record, secret: Secret?, in partition: Partition
    ) throws(VaultError) -> StoredRecord<Record> { try vault.seal(record, secret: secret, in: partition) }

    package func commit(
        _ change: VaultChange, onDisk: @escaping @Sendable () -> Void
    ) async throws(VaultError) {
        let (error, gate) = faults.withLock { faults in
            faults.commits += 1
            let isHeld = faults.heldPartition == nil || faults.heldPartition == change.partition
            if faults.commit == nil, faults.gate != nil, isHeld { faults.held += 1 }
            return (faults.commit, isHeld ? faults.gate : nil)
        }
        if let error { throw error }
        await gate?.wait()
        try await vault.commit(change, onDisk: onDisk)
        faults.withLock { $0.rowsOfLastCommit = change.puts.count + change.deletes.count }
    }

    package func withSecret(
        of sealed: SealedRecord, _ body: (UnsafeRawBufferPointer) -> Void
    ) throws(VaultError) {
        guard !faults.withLock({ $0.damaged.contains(sealed.kind) }) else { throw .recordDamaged }
        try vault.withSecret(of: sealed, body)
    }

    package func statistics() throws(VaultError) -> VaultStatistics { try vault.statistics() }

    package func name(of parts: [String], in partition: Partition) throws(VaultError) -> [UInt8] {
        try vault.name(of: parts, in: partition)
    }

    package func statistics(of partition: Partition) throws(VaultError) -> PartitionStatistics {
        try vault.statistics(of: partition)
    }

    package func partitions() throws(VaultError) -> [PartitionSummary] { try vault.partitions() }
    package func erase(_ partition: Partition) async throws(VaultError) { try await vault.erase(partition) }

    package var isLocked: Bool { vault.isLocked }
    package func lock() {
        let beforeLock = faults.withLock { faults in
            defer { faults.beforeLock = nil }
            return faults.beforeLock
        }
        beforeLock?()
        vault.lock()
    }

    package func keyStatus() async -> KeyStatus { await vault.keyStatus() }
    package func addKeySource(_ name: String, passphrase: Secret?) async throws(VaultError) {
        try await vault.addKeySource(name, passphrase: passphrase)
    }

    package func removeKeySource(_ name: String) async throws(VaultError) { try await vault.removeKeySource(name) }

    package func setKeySource(_ name: String, passphrase: Secret?, at now: NumericDate) async throws(VaultError) {
        try await vault.setKeySource(name, passphrase: passphrase, at: now)
    }
    package func replaceDataKeys(at now: NumericDate) async throws(VaultError) {
        try await vault.replaceDataKeys(at: now)
    }
    package func unlock(passphrase: Secret?) async throws(VaultError) { try await vault.unlock(passphrase: passphrase) }
    package func unlockUnasked() async throws(VaultError) { try await vault.unlockUnasked() }
    package func keyChanges() -> AsyncStream<Void> { vault.keyChanges() }
    package func isRolledBack(_ partition: Partition) -> Bool {
        faults.withLock { $0.isRolledBack } || vault.isRolledBack(partition)
    }

    package func acceptState(of partition: Partition) async throws(VaultError) {
        faults.withLock { $0.isRolledBack = false }
        try await vault.acceptState(of: partition)
    }
}

extension Vault {
    /// The vault in this folder, initially with its key in a file next to it; the folder is created if needed.
    package static func open(in folder: String, logger: Logger = .silent) async throws(VaultError) -> Vault {
        let directory = try StateDirectory.open(creating: folder)
        let sources = KeySourceChoice(KeySources.all(in: KeySourceContext(directory: directory)))
        return try await open(
            in: directory, rows: SQLiteStore(in: directory), keySources: sources, at: 0, logger: logger)
    }

    /// A vault with only this source of its key.
    package static func open(
        in directory: StateDirectory, keySource: any KeySource, anchors: [StateDirectory] = [],
        tidyingAfter idleDelay: Duration = .seconds(1), logger: Logger
    ) async throws(VaultError) -> Vault {
        try await open(
            in: directory, rows: SQLiteStore(in: directory),
            keySources: KeySourceChoice([keySource], order: [keySource.name]), anchors: anchors, at: 0,
            tidyingAfter: idleDelay, logger: logger)
    }
}

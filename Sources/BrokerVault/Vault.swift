import BrokerModel
import BrokerValues
import CSodium
import Logging
import Synchronization

/// The encrypted cache: sealed records in a store of rows.
///
/// Reads take microseconds and are allowed from any thread; writes wait for the disk on a queue of the vault's own. The store
/// reveals how many records of each kind a uid has, and roughly how long they are; nothing else.
package final class Vault: RecordVault {
    let directory: StateDirectory
    let store: any RowStore
    private let currentHeader: Mutex<VaultHeader>
    let keySources: KeySourceChoice
    let keys: KeyRing
    let known: KnownManifest
    let anchors: [RollbackAnchor]
    let sealer = RecordSealer()
    let opened = DecryptedTokenCache()
    let reader: VaultReader
    let vaultWriter: VaultWriter
    let queue: SerialQueue
    let damage: QuarantineQueue
    /// Reads and writes that failed.
    let errors: Counter
    let resealing = Mutex(Resealing.ended)
    let logger: Logger

    /// - Parameters:
    ///   - store: open.
    ///   - claim: on the directory.
    private init(
        _ store: any RowStore, _ header: VaultHeader, _ claim: DirectoryClaim, _ anchors: [RollbackAnchor],
        in directory: StateDirectory, _ keySources: KeySourceChoice, tidyingAfter idleDelay: Duration, logger: Logger
    ) throws(VaultError) {
        self.directory = directory
        self.store = store
        self.keySources = keySources
        self.anchors = anchors
        self.logger = logger
        currentHeader = Mutex(header)
        keys = KeyRing(wrapping: nil)
        known = KnownManifest()
        errors = Counter()
        reader = VaultReader(store, errors: errors)
        let vaultWriter = VaultWriter(
            store, claim: claim, keys: keys, known: known, anchors: anchors, logger: logger)
        self.vaultWriter = vaultWriter
        queue = SerialQueue(idleDelay: idleDelay) { vaultWriter.tidy() }
        let (moved, missing) = try store.read { (rows) throws(VaultError) in try rows.quarantined() }
        damage = QuarantineQueue(moved: moved, missing: missing)
        // Starts the idle timer, after which the log of a killed broker is moved.
        queue.run(of: .wholeVault) {}
    }

    deinit { queue.stop() }

    var header: VaultHeader {
        get { currentHeader.withLock { $0 } }
        set { currentHeader.withLock { $0 = newValue } }
    }

    var path: String { store.path }

    /// Opens the vault of a state directory; the first start creates it, and its key.
    ///
    /// The directory is reserved for this vault until ``close()``. Opening reads some pages only, regardless of the number of
    /// records. An error never changes an existing file. If its key has to be waited for, the vault is opened locked.
    ///
    /// - Parameters:
    ///   - store: the place of its rows, not opened yet.
    ///   - keySources: the possible sources of its key.
    ///   - anchors: places outside the directory that record the last commit.
    ///   - now: recorded in a new vault.
    ///   - idleDelay: how long after the last write the log is moved into the file and emptied.
    /// - Throws: a ``VaultError`` whose description says what to do; `brokerd` exits with status 4.
    package static func open(
        in directory: StateDirectory, rows store: any RowStore, keySources: KeySourceChoice,
        anchors: [StateDirectory] = [], at now: NumericDate, tidyingAfter idleDelay: Duration = .seconds(1),
        logger: Logger
    ) async throws(VaultError) -> Vault {
        guard sodium_init() >= 0 else { throw .io("libsodium cannot start: the system has no source of randomness.") }
        let claim = try DirectoryClaim(on: directory)
        BackupFile.removeName(in: directory)
        if try !store.exists() {
            try await requireNew(store.path, keySources, anchors)
            try await make(store, keySources, at: now, logger)
        }
        let header = try VaultHeader(of: store)
        let wrapping = try await wrapping(of: header, store.path, keySources, logger)
        try store.open()
        let vault = try Vault(
            store, header, claim, anchors.compactMap { anchor(in: $0, header, store.path, logger) }, in: directory,
            keySources, tidyingAfter: idleDelay, logger: logger)
        if let wrapping { try await vault.begin(with: wrapping) }
        return vault
    }

    /// - Throws: ``VaultError/missing(_:)`` if the key of a lost vault is kept: an empty vault in its place would hide the loss.
    private static func requireNew(
        _ path: String, _ keySources: KeySourceChoice, _ anchors: [StateDirectory]
    ) async throws(VaultError) {
        for (vaultID, anchorPath) in anchors.flatMap({ RollbackAnchor.vaults(at: path, in: $0) }) {
            for source in keySources.allowed where await source.keepsKey(of: vaultID) {
                throw .missing(
                    "The vault \(path) is gone, and its key is still there (\(source.name)). Put vault.db back from a backup: that "
                        + "key opens it. To start over and sign in again, remove \(anchorPath).")
            }
        }
    }

    /// - Returns: nil if the key has to be waited for.
    private static func wrapping(
        of header: VaultHeader, _ path: String, _ keySources: KeySourceChoice, _ logger: Logger
    ) async throws(VaultError) -> KeyWrapping? {
        do throws(VaultError) {
            return try await header.wrapping(of: path, from: keySources, passphrase: nil, .atStart)
        } catch {
            guard case .awaitingKey(let text) = error else { throw error }
            logger.notice("the vault starts locked", metadata: ["cause": "\(text)"])
            return nil
        }
    }

    /// The first available source of the order makes the key; the log names each source that was skipped.
    private static func make(
        _ store: any RowStore, _ keySources: KeySourceChoice, at now: NumericDate, _ logger: Logger
    ) async throws(VaultError) {
        let vaultID = Secret.random(count: 16).withBytes { [UInt8]($0) }
        var objection = VaultError.keyUnavailable("No source for the vault's key is configured. Name one: key-file.")
        for source in keySources.forNewVaults {
            do throws(VaultError) {
                let header = try await VaultHeader.making(vaultID, from: source, passphrase: nil, .atStart, at: now)
                try store.make(header.stored)
                logger.notice("made a new vault", metadata: ["path": "\(store.path)", "keySource": "\(source.name)"])
                return
            } catch {
                // Only an absent source is skipped in favour of the next, not one that fails.
                let isThere = await source.isAvailable()
                if case .awaitingKey(let text) = error {
                    objection = .keyUnavailable(text)
                } else if isThere {
                    throw error
                } else {
                    objection = error
                }
                logger.warning("a key source cannot make the key of a new vault", error: error)
            }
        }
        throw objection
    }

    private static func anchor(
        in directory: StateDirectory, _ header: VaultHeader, _ path: String, _ logger: Logger
    ) -> RollbackAnchor? {
        do throws(VaultError) {
            return try RollbackAnchor(in: directory, vaultID: header.vaultID, of: path)
        } catch {
            logger.warning("the last commit cannot be recorded outside the vault", error: error)
            return nil
        }
    }

    /// Waits for writes under way, closes the store and releases the directory. Later calls of anything else throw.
    /// Not needed for durability: committed records are on disk.
    package func close() async {
        await withCheckedContinuation { continuation in
            let isAccepted = queue.stop { [vaultWriter] in
                vaultWriter.close()
                continuation.resume()
            }
            if !isAccepted { continuation.resume() }
        }
    }

    package func statistics(of partition: Partition) throws(VaultError) -> PartitionStatistics {
        var result = PartitionStatistics()
        result.fileBytes = store.byteCount
        for (kind, count, bytes) in try reader.counts(in: partition) {
            result.recordBytes += bytes
            if let kind { result.records[kind] = count }
            if !(kind.map(RecordKind.ofAuditLog.contains) ?? false) { result.bytesWithoutLog += bytes }
        }
        return result
    }

    package func statistics() throws(VaultError) -> VaultStatistics {
        VaultStatistics(
            path: path, keySource: header.keySource, records: try reader.recordCount(), quarantined: damage.total,
            missing: damage.missing, errors: errors.value, isRolledBack: known.isAnyRolledBack)
    }

    package func isRolledBack(_ partition: Partition) -> Bool { known.isRolledBack(partition) }
}

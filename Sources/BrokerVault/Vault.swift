import BrokerModel
import BrokerValues
import CSodium
import Logging
import Synchronization

/// The encrypted cache: sealed records in an SQLite file.
///
/// Reads take microseconds and may come from any thread; writes wait for the disk on a queue of the vault's own.
/// The file shows how many records of which kind a uid has, and roughly how long they are; nothing else.
package final class Vault: RecordVault {
    let directory: StateDirectory
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
    let resealing = Mutex(false)
    let logger: Logger

    private init(
        _ opened: Opened, in directory: StateDirectory, _ keySources: KeySourceChoice,
        tidyingAfter idleDelay: Duration, logger: Logger
    ) {
        self.directory = directory
        self.keySources = keySources
        self.logger = logger
        currentHeader = Mutex(opened.header)
        keys = opened.keys
        known = opened.known
        anchors = opened.anchors
        reader = opened.reader
        damage = opened.damage
        errors = opened.errors
        let vaultWriter = opened.vaultWriter
        self.vaultWriter = vaultWriter
        queue = SerialQueue(idleDelay: idleDelay) { vaultWriter.tidy() }
        // Starts the idle time, after which a log that a killed broker left is moved.
        queue.run(of: .wholeVault) {}
    }

    deinit { queue.stop() }

    private struct Opened {
        var header: VaultHeader
        var keys: KeyRing
        var known: KnownManifest
        var anchors: [RollbackAnchor]
        var reader: VaultReader
        var vaultWriter: VaultWriter
        var damage: QuarantineQueue
        var errors: Counter
    }

    var header: VaultHeader {
        get { currentHeader.withLock { $0 } }
        set { currentHeader.withLock { $0 = newValue } }
    }

    var path: String { VaultFile(directory: directory).path }

    /// Opens the vault of a state directory; the first start makes it, and its key.
    ///
    /// The directory is this vault's alone until ``close()``. Opening reads some pages only, however many records there
    /// are. Whatever goes wrong, an existing file stays as it is. A vault whose key has to be waited for is opened locked.
    ///
    /// - Parameters:
    ///   - keySources: where its key may come from.
    ///   - anchors: where the last commit is remembered outside of the directory.
    ///   - now: recorded in a new vault.
    ///   - idleDelay: how long after the last write the log is moved into the file and emptied.
    /// - Throws: a ``VaultError`` whose description tells a person what to do; `brokerd` ends with status 4.
    package static func open(
        in directory: StateDirectory, keySources: KeySourceChoice, anchors: [StateDirectory] = [], at now: NumericDate,
        tidyingAfter idleDelay: Duration = .seconds(1), logger: Logger
    ) async throws(VaultError) -> Vault {
        guard sodium_init() >= 0 else { throw .io("libsodium cannot start: the system has no source of randomness.") }
        let claim = try DirectoryClaim(on: directory)
        BackupFile.removeName(in: directory)
        let file = VaultFile(directory: directory)
        if try !file.exists() {
            try await requireNew(file.path, keySources, anchors)
            try await make(file, keySources, at: now, logger)
        }
        let header = try file.examine()
        let wrapping = try await wrapping(of: header, file.path, keySources, logger)
        let opened = try assemble(file, header, KeyRing(wrapping: nil), claim, anchors, logger)
        let vault = Vault(opened, in: directory, keySources, tidyingAfter: idleDelay, logger: logger)
        if let wrapping { try await vault.begin(with: wrapping) }
        return vault
    }

    /// - Throws: ``VaultError/missing(_:)`` where a vault was whose key is kept: an empty one in its place would hide that.
    private static func requireNew(
        _ path: String, _ keySources: KeySourceChoice, _ anchors: [StateDirectory]
    ) async throws(VaultError) {
        for directory in anchors {
            guard let (vaultID, anchorPath) = RollbackAnchor.vault(at: path, in: directory) else { continue }
            for source in keySources.allowed where await source.keepsKey(of: vaultID) {
                throw .missing(
                    "The vault \(path) is gone, and its key is still there (\(source.name)). Put vault.db back from a backup: that "
                        + "key opens it. To begin anew and sign in again, remove \(anchorPath).")
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

    /// The first source of the order that is there makes the key; who comes after another is told of in the log.
    private static func make(
        _ file: VaultFile, _ keySources: KeySourceChoice, at now: NumericDate, _ logger: Logger
    ) async throws(VaultError) {
        let vaultID = Secret.random(count: 16).withBytes { [UInt8]($0) }
        var objection = VaultError.keyUnavailable("No source for the vault's key is configured. Name one: key-file.")
        for source in keySources.forNewVaults {
            do throws(VaultError) {
                let header = try await VaultHeader.making(vaultID, from: source, passphrase: nil, .atStart, at: now)
                    .header
                try file.make(header)
                logger.notice("made a new vault", metadata: ["path": "\(file.path)", "keySource": "\(source.name)"])
                return
            } catch {
                // Only what is not there at all makes room for the next: a source that fails is not passed over.
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

    private static func assemble(
        _ file: VaultFile, _ header: VaultHeader, _ keys: KeyRing, _ claim: DirectoryClaim, _ anchors: [StateDirectory],
        _ logger: Logger
    ) throws(VaultError) -> Opened {
        let writing = try file.connect()
        let reading = try file.connect()
        try reading.run("PRAGMA query_only = ON")
        let (moved, missing) = try reading.quarantined()
        let damage = QuarantineQueue(moved: moved, missing: missing)
        let errors = Counter()
        let reader = VaultReader(reading, errors: errors)
        let known = KnownManifest()
        let anchors = anchors.compactMap { anchor(in: $0, header, file.path, logger) }
        let vaultWriter = VaultWriter(
            writing, claim: claim, reader: reader, keys: keys, known: known, anchors: anchors, logger: logger)
        return Opened(
            header: header, keys: keys, known: known, anchors: anchors, reader: reader, vaultWriter: vaultWriter,
            damage: damage, errors: errors)
    }

    private static func anchor(
        in directory: StateDirectory, _ header: VaultHeader, _ path: String, _ logger: Logger
    ) -> RollbackAnchor? {
        do throws(VaultError) {
            return try RollbackAnchor(in: directory, vaultID: header.vaultID, of: path)
        } catch {
            logger.warning("the last commit cannot be remembered outside of the vault", error: error)
            return nil
        }
    }

    /// Waits for writes under way, moves the log into the file and gives the directory free. Later calls of anything else
    /// throw. Not needed for durability: what was committed is on disk.
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
        result.fileBytes = ([VaultFormat.fileName] + VaultFormat.sideFiles)
            .reduce(0) { $0 + directory.size(of: $1) }
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

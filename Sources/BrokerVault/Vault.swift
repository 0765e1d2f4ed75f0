import BrokerModel
import CSodium
import Logging

/// The encrypted cache: sealed records in an SQLite file.
///
/// Reads take microseconds and may come from any thread; writes wait for the disk on a queue of the vault's own.
/// The file shows how many records of which kind a uid has, and roughly how long they are; nothing else.
package final class Vault: RecordVault {
    let directory: StateDirectory
    let header: VaultHeader
    let keys: KeyRing
    let sealer = RecordSealer()
    let reader: VaultReader
    let writeSide: VaultWriter
    let queue: SerialQueue
    let damage: QuarantineQueue
    let logger: Logger

    private init(
        _ opened: Opened, in directory: StateDirectory, tidyingAfter idleDelay: Duration, logger: Logger
    ) {
        self.directory = directory
        self.logger = logger
        header = opened.header
        keys = opened.keys
        reader = opened.reader
        damage = opened.damage
        let writeSide = opened.writeSide
        self.writeSide = writeSide
        queue = SerialQueue(idleDelay: idleDelay) { writeSide.tidy() }
        // Starts the idle time, after which a log that a killed broker left is moved.
        queue.run {}
    }

    deinit { queue.stop() }

    private struct Opened {
        var header: VaultHeader
        var keys: KeyRing
        var reader: VaultReader
        var writeSide: VaultWriter
        var damage: QuarantineQueue
    }

    /// Opens the vault of a state directory; the first start makes it, and its key.
    ///
    /// The directory is this vault's alone until ``close()``. Opening reads some pages only, however many records there
    /// are. Whatever goes wrong, an existing file stays as it is.
    ///
    /// - Parameters:
    ///   - keySource: must be the one that the vault was made with.
    ///   - idleDelay: how long after the last write the log is moved into the file and emptied.
    /// - Throws: a ``VaultError`` whose description tells a person what to do; `brokerd` ends with status 4.
    package static func open(
        in directory: StateDirectory, keySource: some KeySource, tidyingAfter idleDelay: Duration = .seconds(1),
        logger: Logger
    ) async throws(VaultError) -> Vault {
        guard sodium_init() >= 0 else { throw .io("libsodium cannot start: the system has no source of randomness.") }
        let claim = try DirectoryClaim(on: directory)
        let file = VaultFile(directory: directory)
        if try !file.exists() {
            try await make(file, keySource)
            logger.notice("made a new vault", metadata: ["path": "\(file.path)", "keySource": "\(keySource.name)"])
        }
        let header = try file.examine()
        let wrapping = try await unlock(header, of: file, keySource)
        let opened = try assemble(file, header, KeyRing(wrapping: wrapping), claim, logger)
        return Vault(opened, in: directory, tidyingAfter: idleDelay, logger: logger)
    }

    private static func make(_ file: VaultFile, _ keySource: some KeySource) async throws(VaultError) {
        let vaultID = Secret.random(count: 16).withBytes { [UInt8]($0) }
        let made = try await keySource.makeKey(for: vaultID)
        let wrapping = try wrapping(made.key, vaultID, keySource.name)
        try file.make(
            VaultHeader(
                vaultID: vaultID, keySource: keySource.name, keyParameters: made.parameters, keyCheck: wrapping.check))
    }

    private static func unlock(
        _ header: VaultHeader, of file: VaultFile, _ keySource: some KeySource
    ) async throws(VaultError) -> KeyWrapping {
        guard header.keySource == keySource.name else {
            throw .keyUnavailable(
                "The key of \(file.path) comes from \(header.keySource), but \(keySource.name) is configured. "
                    + "Configure \(header.keySource) again.")
        }
        let key = try await keySource.key(for: header.vaultID, parameters: header.keyParameters)
        let wrapping = try wrapping(key, header.vaultID, header.keySource)
        guard wrapping.check == header.keyCheck else {
            throw .wrongKey(
                "The key from \(header.keySource) is not the one that \(file.path) was made with. "
                    + "Put back the key that belongs to it; nothing was changed.")
        }
        return wrapping
    }

    private static func wrapping(
        _ key: Secret, _ vaultID: [UInt8], _ source: String
    ) throws(VaultError) -> KeyWrapping {
        guard key.count == keyByteCount else {
            throw .keyUnavailable("The key from \(source) has \(key.count) bytes instead of \(keyByteCount).")
        }
        return KeyWrapping(key: key, vaultID: vaultID, source: source)
    }

    private static func assemble(
        _ file: VaultFile, _ header: VaultHeader, _ keys: KeyRing, _ claim: DirectoryClaim, _ logger: Logger
    ) throws(VaultError) -> Opened {
        let writing = try file.connect()
        let reading = try file.connect()
        try reading.run("PRAGMA query_only = ON")
        let damage = QuarantineQueue(moved: try reading.integer("SELECT count(*) FROM quarantine"))
        let reader = VaultReader(reading)
        let writeSide = VaultWriter(writing, claim: claim, reader: reader, keys: keys, logger: logger)
        return Opened(header: header, keys: keys, reader: reader, writeSide: writeSide, damage: damage)
    }

    /// Waits for writes under way, moves the log into the file and gives the directory free. Later calls of anything else
    /// throw. Not needed for durability: what was committed is on disk.
    package func close() async {
        await withCheckedContinuation { continuation in
            let isAccepted = queue.run { [writeSide] in
                writeSide.close()
                continuation.resume()
            }
            queue.stop()
            if !isAccepted { continuation.resume() }
        }
    }

    package func statistics() throws(VaultError) -> VaultStatistics {
        VaultStatistics(
            path: VaultFile(directory: directory).path, keySource: header.keySource,
            records: try reader.recordCount(), quarantined: damage.total)
    }
}

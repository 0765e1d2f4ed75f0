import BrokerModel
import Logging
import Synchronization

/// The connection that writes. Everything here waits for the disk: call it on the vault's queue only.
final class VaultWriter: Sendable {
    /// About 4 MB of log; under constant writing it is moved into the file when it is that long.
    private static let writesPerCheckpoint = 500

    private struct State {
        var connection: SQLiteConnection?
        var claim: DirectoryClaim?
        var writesInLog = 0
    }

    private let state: Mutex<State>
    private let reader: VaultReader
    private let keys: KeyRing
    private let logger: Logger

    init(
        _ connection: sending SQLiteConnection, claim: DirectoryClaim, reader: VaultReader, keys: KeyRing,
        logger: Logger
    ) {
        // One: an earlier broker may have left something in the log.
        state = Mutex(State(connection: connection, claim: claim, writesInLog: 1))
        self.reader = reader
        self.keys = keys
        self.logger = logger
    }

    deinit { close() }

    func apply(_ write: WriteSet) throws(VaultError) {
        let unsaved = write.partitions.compactMap { partition in
            keys.unsavedKey(of: partition).map { (partition, $0) }
        }
        try transaction { (connection) throws(VaultError) in
            for (partition, wrapped) in unsaved {
                try connection.run(
                    "INSERT INTO partition_key (partition, wrapped) VALUES (?1, ?2)", .integer(Int64(partition.uid)),
                    .blob(wrapped))
            }
            for rowKey in write.deletes { try connection.run("DELETE FROM record WHERE row_key = ?1", .blob(rowKey)) }
            for record in write.puts { try connection.put(record) }
        }
        for (partition, _) in unsaved { keys.markSaved(partition) }
    }

    /// Writes all data keys anew, and what the vault says of the key that wraps them.
    func write(_ wrapped: [Partition: [UInt8]], _ header: VaultHeader) throws(VaultError) {
        try transaction { (connection) throws(VaultError) in
            for (partition, wrapped) in wrapped {
                try connection.run(
                    "INSERT OR REPLACE INTO partition_key (partition, wrapped) VALUES (?1, ?2)",
                    .integer(Int64(partition.uid)), .blob(wrapped))
            }
            try connection.write(header)
        }
    }

    /// Moves rows that do not open out of the way; nothing is thrown away.
    ///
    /// - Parameter isWhole: asked again for the row as it is now, which may have been written anew.
    /// - Returns: rows that were moved, and rows that need not be.
    func quarantine(
        _ rows: [Int64], isWhole: @Sendable (StoredRow) throws(VaultError) -> Bool
    ) throws(VaultError) -> (moved: [Int64], mended: [Int64]) {
        let moved = try transaction { (connection) throws(VaultError) in
            var moved: Set<Int64> = []
            for id in rows {
                let found = try connection.rows(
                    "SELECT id, partition, kind, row_key, bucket_key, box FROM record WHERE id = ?1", .integer(id),
                    read: StoredRow.init)
                guard let row = found.first, try !isWhole(row) else { continue }
                try connection.run(
                    """
                    INSERT INTO quarantine (partition, kind, row_key, bucket_key, box)
                    SELECT partition, kind, row_key, bucket_key, box FROM record WHERE id = ?1
                    """, .integer(id))
                try connection.run("DELETE FROM record WHERE id = ?1", .integer(id))
                moved.insert(id)
            }
            return moved
        }
        return (Array(moved), rows.filter { !moved.contains($0) })
    }

    private func transaction<Result: Sendable>(
        _ body: @Sendable (SQLiteConnection) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        try state.withLock { (state) throws(VaultError) in
            guard let connection = state.connection else { throw VaultError.closed }
            let result = try connection.transaction(body)
            state.writesInLog += 1
            return result
        }
    }

    /// Moves the log into the file and empties it: until then, what was deleted or replaced is still there (sealed).
    func checkpoint() throws(VaultError) {
        try state.withLock { (state) throws(VaultError) in
            guard let connection = state.connection, state.writesInLog > 0 else { return }
            try connection.checkpoint()
            state.writesInLog = 0
        }
    }

    /// As ``checkpoint()`` for times when nobody waits for it: failing costs nothing but the space of the log.
    func tidy(onlyIfLong: Bool = false) {
        if onlyIfLong, state.withLock({ $0.writesInLog < Self.writesPerCheckpoint }) { return }
        do {
            try checkpoint()
        } catch {
            logger.warning("The vault's log could not be moved into its file; trying again later", error: error)
        }
    }

    /// Safe to call twice.
    func close() {
        tidy()
        reader.close()
        state.withLock { state in
            state.connection = nil
            // Last, so that the next broker finds the file closed.
            state.claim = nil
        }
    }
}

/// What one commit changes, named as the file names it.
struct WriteSet: Sendable {
    var partitions: Set<Partition>
    var puts: [SealedRecord]
    /// Row keys.
    var deletes: [[UInt8]]
}

extension SQLiteConnection {
    fileprivate func put(_ record: SealedRecord) throws(VaultError) {
        try run(
            """
            INSERT INTO record (partition, kind, row_key, bucket_key, box) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (row_key) DO UPDATE SET partition = excluded.partition, kind = excluded.kind,
            bucket_key = excluded.bucket_key, box = excluded.box
            """, .integer(Int64(record.partition.uid)), .integer(Int64(record.kind.rawValue)), .blob(record.rowKey),
            .blob(record.bucketKey), .blob(record.box))
    }
}

extension VaultError {
    static let closed = VaultError.io("The vault is closed, because the broker is stopping. Start it again.")
}

extension Logger {
    func warning(_ text: Logger.Message, error: VaultError) {
        warning(text, metadata: ["error": "\(error)"])
    }
}

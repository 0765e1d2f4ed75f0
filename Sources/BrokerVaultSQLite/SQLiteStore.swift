import BrokerModel
import BrokerVault
import Synchronization

/// The vault's rows in one file of the state directory (docs/decisions/0007): one connection writes, another one reads beside it.
package final class SQLiteStore: RowStore {
    /// About 4 MB of log; under constant writing it is moved into the file at that length.
    private static let writesPerCheckpoint = 500

    private struct Writing {
        var connection: SQLiteConnection?
        /// One: an earlier broker may have left something in the log.
        var writesInLog = 1
    }

    private let file: SQLiteFile
    private let writing = Mutex(Writing())
    private let reading = Mutex<SQLiteConnection?>(nil)

    package init(in directory: StateDirectory) { file = SQLiteFile(directory: directory) }

    package var path: String { file.path }
    package var byteCount: Int { file.byteCount }
    package func exists() throws(VaultError) -> Bool { try file.exists() }
    package func make(_ header: [String: [UInt8]]) throws(VaultError) { try file.make(header) }

    package func examine() throws(VaultError) -> (format: Int, header: [String: [UInt8]]) { try file.examine() }

    package func open() throws(VaultError) {
        try writing.withLock { (state) throws(VaultError) in state.connection = try file.connect() }
        do throws(VaultError) {
            try reading.withLock { (connection) throws(VaultError) in
                let new = try file.connect()
                try new.run("PRAGMA query_only = ON")
                connection = new
            }
        } catch {
            close()
            throw error
        }
    }

    package func read<Result: Sendable>(
        _ body: @Sendable (any RowSnapshot) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        try reading.withLock { (connection) throws(VaultError) in
            guard let connection else { throw VaultError.closed }
            return try connection.snapshot { (rows) throws(VaultError) in try body(rows) }
        }
    }

    package func write<Result: Sendable>(
        _ body: @Sendable (any RowTransaction) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        try writing.withLock { (state) throws(VaultError) in
            guard let connection = state.connection else { throw VaultError.closed }
            let result = try connection.transaction { (rows) throws(VaultError) in try body(rows) }
            state.writesInLog += 1
            return result
        }
    }

    package var isCheckpointDue: Bool { writing.withLock { $0.writesInLog >= Self.writesPerCheckpoint } }

    /// Moves the log into the file and empties it: until then, it still contains deleted and replaced records.
    package func checkpoint() throws(VaultError) {
        try writing.withLock { (state) throws(VaultError) in
            guard let connection = state.connection, state.writesInLog > 0 else { return }
            try connection.checkpoint()
            state.writesInLog = 0
        }
    }

    /// Releases the pages of the file that are in memory; the next read gets them from the kernel.
    package func trim() {
        reading.withLock { $0?.forgetPages() }
        writing.withLock { $0.connection?.forgetPages() }
    }

    package func close() {
        reading.withLock { $0 = nil }
        writing.withLock { $0.connection = nil }
    }
}

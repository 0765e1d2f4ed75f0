import BrokerModel
import CSQLite

/// One connection to one database file, for one thread at a time. Statements are compiled once and kept.
///
/// Only this process may use the file while any connection to it is open, so the index of its log is in ordinary memory: some
/// file systems cannot share memory for files (FUSE with direct I/O, 9p). Connections of one process share that index.
final class SQLiteConnection {
    let path: String
    private let handle: OpaquePointer
    /// https://www.sqlite.org/vfs.html#standard_unix_vfses
    private static let exclusive = "unix-excl"
    private var statements: [String: Statement] = [:]

    /// Opens an existing file. `path` must not contain symbolic links.
    init(opening path: String) throws(VaultError) {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_PRIVATECACHE
        let code = sqlite3_open_v2(path, &opened, flags, Self.exclusive)
        guard code == SQLITE_OK, let handle = opened else {
            let failure = SQLiteFailure(
                code: code, systemError: opened.map { sqlite3_system_errno($0) } ?? 0, path: path)
            sqlite3_close_v2(opened)
            throw failure.error
        }
        self.path = path
        self.handle = handle
        sqlite3_extended_result_codes(handle, 1)
        // The user may have the file open in the sqlite3 shell.
        sqlite3_busy_timeout(handle, 5_000)
        // An attacker may have written the file: it must not make SQLite do more than read and write tables.
        set(SQLITE_DBCONFIG_DEFENSIVE, true)
        set(SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)
        set(SQLITE_DBCONFIG_ENABLE_TRIGGER, false)
        set(SQLITE_DBCONFIG_ENABLE_VIEW, false)
        // Until the file is known to be ours and whole, closing must not change it.
        set(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
        try run("PRAGMA cell_size_check = ON")
        try run("PRAGMA mmap_size = 0")
        try run("PRAGMA temp_store = MEMORY")
    }

    deinit {
        statements.removeAll()
        sqlite3_close_v2(handle)
    }

    /// From now on, the last connection to close moves the write-ahead log into the file.
    func checkpointOnClose() { set(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false) }

    private func set(_ option: Int32, _ on: Bool) {
        _ = broker_sqlite3_config_flag(handle, option, on ? 1 : 0)
    }

    /// Runs a statement to its end; rows it returns are dropped.
    func run(_ sql: String, _ values: SQLValue...) throws(VaultError) {
        try execute(sql, values) { _ in }
    }

    /// The rows of a statement, each turned into a value while it is current.
    func rows<Value>(_ sql: String, _ values: SQLValue..., read: (Row) -> Value) throws(VaultError) -> [Value] {
        try rows(sql, values: values, read: read)
    }

    func rows<Value>(_ sql: String, values: [SQLValue], read: (Row) -> Value) throws(VaultError) -> [Value] {
        var result: [Value] = []
        try execute(sql, values) { result.append(read($0)) }
        return result
    }

    func integer(_ sql: String) throws(VaultError) -> Int {
        try rows(sql) { Int($0.integer(0)) }.first ?? 0
    }

    private func execute(_ sql: String, _ values: [SQLValue], each: (Row) -> Void) throws(VaultError) {
        let statement = try prepared(sql)
        defer { statement.reset() }
        for (index, value) in values.enumerated() {
            let code = statement.bind(value, at: Int32(index + 1))
            guard code == SQLITE_OK else { throw failure(code) }
        }
        while true {
            let code = sqlite3_step(statement.handle)
            if code == SQLITE_DONE { return }
            guard code == SQLITE_ROW else { throw failure(code) }
            each(Row(statement: statement.handle))
        }
    }

    private func prepared(_ sql: String) throws(VaultError) -> Statement {
        if let statement = statements[sql] { return statement }
        var compiled: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &compiled, nil)
        guard code == SQLITE_OK, let compiled else { throw failure(code) }
        let statement = Statement(handle: compiled)
        statements[sql] = statement
        return statement
    }

    private func failure(_ code: Int32) -> VaultError {
        let reported = sqlite3_system_errno(handle)
        let systemError = reported != 0 ? reported : broker_sqlite3_file_errno(handle)
        return SQLiteFailure(code: code, systemError: systemError, path: path).error
    }

    /// Runs `body` as one durable transaction: all of it, or nothing.
    func transaction<Result>(_ body: (SQLiteConnection) throws(VaultError) -> Result) throws(VaultError) -> Result {
        try between("BEGIN IMMEDIATE", body)
    }

    /// Reads one consistent state: later commits are not visible.
    func snapshot<Result>(_ body: (SQLiteConnection) throws(VaultError) -> Result) throws(VaultError) -> Result {
        try between("BEGIN", body)
    }

    private func between<Result>(
        _ begin: String, _ body: (SQLiteConnection) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        try run(begin)
        do {
            let result = try body(self)
            try run("COMMIT")
            return result
        } catch {
            // After some failures SQLite has already rolled back.
            if sqlite3_get_autocommit(handle) == 0 { try? run("ROLLBACK") }
            throw error
        }
    }

    /// Moves the write-ahead log into the file and empties it.
    func checkpoint() throws(VaultError) {
        let code = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        guard code == SQLITE_OK else { throw failure(code) }
    }

    /// Releases cached pages of the file; the next read gets them from the kernel.
    func forgetPages() { sqlite3_db_release_memory(handle) }
}

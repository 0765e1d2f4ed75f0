import BrokerModel
import BrokerVault

/// The database file: created whole or not at all, and examined before SQLite opens it.
struct SQLiteFile: Sendable {
    private static let temporaryName = "vault.db.new"
    let directory: StateDirectory
    var path: String { "\(directory.path)/\(SQLiteSchema.fileName)" }

    /// With the files beside it.
    var byteCount: Int {
        ([SQLiteSchema.fileName] + SQLiteSchema.sideFiles).reduce(0) { $0 + directory.size(of: $1) }
    }

    /// - Throws: ``VaultError/damaged(_:)`` if the log of a vault exists without the vault.
    func exists() throws(VaultError) -> Bool {
        if directory.exists(SQLiteSchema.fileName) { return true }
        guard !directory.hasContent(SQLiteSchema.logName) else {
            throw .damaged(
                "\(path) is missing, but its log \(SQLiteSchema.logName) is there. Put it back from a backup, or move the "
                    + "log away to start over.")
        }
        return false
    }

    /// Makes an empty vault under a temporary name and then renames it, so that `vault.db` is never incomplete.
    func make(_ header: [String: [UInt8]]) throws(VaultError) {
        removeTemporary()
        do {
            try makeTemporary(header)
        } catch {
            // On a full disk even these bytes matter.
            removeTemporary()
            throw error
        }
        try directory.publish(Self.temporaryName, as: SQLiteSchema.fileName)
    }

    private func removeTemporary() {
        for suffix in [""] + SQLiteSchema.sideSuffixes { directory.removeIfPresent(Self.temporaryName + suffix) }
    }

    private func makeTemporary(_ header: [String: [UInt8]]) throws(VaultError) {
        try directory.create(Self.temporaryName, containing: UnsafeRawBufferPointer(start: nil, count: 0))
        let connection = try SQLiteConnection(opening: "\(directory.path)/\(Self.temporaryName)")
        try connection.makeDurable()
        try connection.transaction { (connection) throws(VaultError) in
            try connection.run("PRAGMA application_id = \(SQLiteSchema.applicationID)")
            try connection.run("PRAGMA user_version = \(VaultFormat.current)")
            for statement in SQLiteSchema.tables(of: VaultFormat.current) { try connection.run(statement) }
            for (name, value) in header { try connection.putHeader(value, named: name) }
        }
        try connection.checkpoint()
        connection.checkpointOnClose()
    }

    /// Examines an existing vault as far as possible without its key. It changes nothing in the file, and does not move the log.
    func examine() throws(VaultError) -> (format: Int, header: [String: [UInt8]]) {
        for name in SQLiteSchema.sideFiles { _ = try PrivateFile(reading: name, in: directory) }
        guard let file = try PrivateFile(reading: SQLiteSchema.fileName, in: directory) else {
            throw .io("\(path) is gone. Start the broker again.")
        }
        let isShort = try isShort(file)
        let connection = try SQLiteConnection(opening: path)
        let format = try connection.integer("PRAGMA user_version")
        try requireFormat(format)
        try requireSchema(connection, of: format)
        if isShort { try requireWhole(connection) }
        return (format, try connection.header())
    }

    /// A working connection, to a vault that was examined and whose key is verified.
    func connect() throws(VaultError) -> SQLiteConnection {
        let connection = try SQLiteConnection(opening: path)
        try connection.makeDurable()
        connection.checkpointOnClose()
        return connection
    }

    /// Reads the first 100 bytes (https://www.sqlite.org/fileformat2.html, section 1.3) before SQLite opens the file: it would
    /// take an empty file for a new database.
    ///
    /// - Returns: whether the file is shorter than its header says.
    private func isShort(_ file: PrivateFile) throws(VaultError) -> Bool {
        var head = [UInt8](repeating: 0, count: 100)
        let isRead = head.withUnsafeMutableBytes { file.read(into: $0) }
        func number(_ offset: Int, _ count: Int) -> Int {
            head[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
        }
        guard isRead, head.starts(with: "SQLite format 3\0".utf8), number(68, 4) == SQLiteSchema.applicationID else {
            throw .damaged("\(path) is not a vault, or its beginning is damaged. Restore it, or move it away.")
        }
        try requireFormat(number(60, 4))
        let pageSize = number(16, 2) == 1 ? 65_536 : number(16, 2)
        guard file.size < number(28, 4) * pageSize else { return false }
        // A broker that was killed while it moved its log into the file leaves it short, and the log has the rest.
        guard directory.hasContent(SQLiteSchema.logName) else { throw cut }
        return true
    }

    private var cut: VaultError {
        .damaged("\(path) is cut off: it is shorter than it says. Restore it from a backup, or move it away.")
    }

    private func requireFormat(_ found: Int) throws(VaultError) {
        guard !(VaultFormat.oldest...VaultFormat.current).contains(found) else { return }
        if found > VaultFormat.current { throw .newerFormat(found: found, supported: VaultFormat.current) }
        throw .damaged(
            "\(path) has the unknown format \(found). Restore it from a backup, or move it away.")
    }

    private func requireSchema(_ connection: SQLiteConnection, of format: Int) throws(VaultError) {
        let found = try connection.rows("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid") {
            $0.text(0)
        }
        guard found == SQLiteSchema.tables(of: format) else {
            throw .damaged("\(path) has other tables than a vault. Restore it from a backup, or move it away.")
        }
    }

    /// Reads every page, which takes tens of milliseconds for 10,000 records; so only a file that looks truncated is checked.
    /// Other damaged pages are detected when they are read, and rows have their own seals.
    private func requireWhole(_ connection: SQLiteConnection) throws(VaultError) {
        guard try connection.rows("PRAGMA quick_check(1)", read: { $0.text(0) }) == ["ok"] else { throw cut }
    }
}

extension SQLiteConnection {
    /// A reported transaction survives a power cut, and deleted data is overwritten.
    func makeDurable() throws(VaultError) {
        guard try rows("PRAGMA journal_mode = WAL", read: { $0.text(0) }) == ["wal"] else {
            throw .io("SQLite cannot keep a log next to \(path). Name a --state-dir on another file system.")
        }
        try run("PRAGMA synchronous = FULL")
        try run("PRAGMA secure_delete = ON")
        // The writer makes checkpoints, after its callers have been answered.
        try run("PRAGMA wal_autocheckpoint = 0")
    }
}

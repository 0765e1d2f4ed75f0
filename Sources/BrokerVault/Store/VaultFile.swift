import BrokerModel
import BrokerValues

/// The database file: created whole or not at all, and examined before SQLite opens it.
struct VaultFile {
    private static let temporaryName = "vault.db.new"
    let directory: StateDirectory
    var path: String { "\(directory.path)/\(VaultFormat.fileName)" }

    /// - Throws: ``VaultError/damaged(_:)`` if the log of a vault exists without the vault.
    func exists() throws(VaultError) -> Bool {
        if directory.exists(VaultFormat.fileName) { return true }
        guard !directory.hasContent(VaultFormat.logName) else {
            throw .damaged(
                "\(path) is missing, but its log \(VaultFormat.logName) is there. Put it back from a backup, or move the "
                    + "log away to start over.")
        }
        return false
    }

    /// Makes an empty vault under a temporary name and then renames it, so that `vault.db` is never incomplete.
    func make(_ header: VaultHeader) throws(VaultError) {
        removeTemporary()
        do {
            try makeTemporary(header)
        } catch {
            // On a full disk even these bytes matter.
            removeTemporary()
            throw error
        }
        try directory.publish(Self.temporaryName, as: VaultFormat.fileName)
    }

    private func removeTemporary() {
        for suffix in [""] + VaultFormat.sideSuffixes { directory.removeIfPresent(Self.temporaryName + suffix) }
    }

    private func makeTemporary(_ header: VaultHeader) throws(VaultError) {
        try directory.create(Self.temporaryName, containing: UnsafeRawBufferPointer(start: nil, count: 0))
        let connection = try SQLiteConnection(opening: "\(directory.path)/\(Self.temporaryName)")
        try connection.makeDurable()
        try connection.transaction { (connection) throws(VaultError) in
            try connection.run("PRAGMA application_id = \(VaultFormat.applicationID)")
            try connection.run("PRAGMA user_version = \(VaultFormat.current)")
            for statement in VaultFormat.schema(of: VaultFormat.current) { try connection.run(statement) }
            try connection.write(header)
        }
        try connection.checkpoint()
        connection.checkpointOnClose()
    }

    /// Examines an existing vault as far as possible without its key. It changes nothing in the file, and does not move the log.
    func examine() throws(VaultError) -> VaultHeader {
        for name in VaultFormat.sideFiles { _ = try PrivateFile(reading: name, in: directory) }
        guard let file = try PrivateFile(reading: VaultFormat.fileName, in: directory) else {
            throw .io("\(path) is gone. Start the broker again.")
        }
        let isShort = try isShort(file)
        let connection = try SQLiteConnection(opening: path)
        let format = try connection.integer("PRAGMA user_version")
        try requireFormat(format)
        try requireSchema(connection, of: format)
        if isShort { try requireWhole(connection) }
        return try connection.readHeader(path, format: format)
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
        guard isRead, head.starts(with: "SQLite format 3\0".utf8), number(68, 4) == VaultFormat.applicationID else {
            throw .damaged("\(path) is not a vault, or its beginning is damaged. Restore it, or move it away.")
        }
        try requireFormat(number(60, 4))
        let pageSize = number(16, 2) == 1 ? 65_536 : number(16, 2)
        guard file.size < number(28, 4) * pageSize else { return false }
        // A broker that was killed while it moved its log into the file leaves it short, and the log has the rest.
        guard directory.hasContent(VaultFormat.logName) else { throw cut }
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
        guard found == VaultFormat.schema(of: format) else {
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

    func write(_ header: VaultHeader) throws(VaultError) {
        var values = [
            ("vault-id", header.vaultID), ("key-source", Array(header.keySource.utf8)),
            ("key-parameters", header.keyParameters), ("key-check", header.keyCheck),
        ]
        if let wrappedOn = header.wrappedOn { values.append(("key-wrapped-on", Array(String(wrappedOn).utf8))) }
        try run("DELETE FROM header WHERE name LIKE '\(AddedSource.prefix)%'")
        values += header.added.map { (AddedSource.prefix + $0.source, $0.stored) }
        for (name, value) in values {
            try run("INSERT OR REPLACE INTO header (name, value) VALUES (?1, ?2)", .text(name), .blob(value))
        }
    }

    func readHeader(_ path: String, format: Int) throws(VaultError) -> VaultHeader {
        let found = try rows("SELECT name, value FROM header") { ($0.text(0), $0.blob(1)) }
        let values = Dictionary(found, uniquingKeysWith: { first, _ in first })
        guard let vaultID = values["vault-id"], vaultID.count == 16, let source = values["key-source"],
            let parameters = values["key-parameters"], let check = values["key-check"]
        else { throw .damaged("The header of \(path) is damaged. Restore it from a backup, or move it away.") }
        return VaultHeader(
            format: format, vaultID: vaultID, keySource: String(decoding: source, as: UTF8.self),
            keyParameters: parameters, keyCheck: check,
            wrappedOn: values["key-wrapped-on"].flatMap { NumericDate(String(decoding: $0, as: UTF8.self)) },
            added: values.sorted { $0.key < $1.key }.compactMap { name, value in
                guard name.hasPrefix(AddedSource.prefix) else { return nil }
                return AddedSource(String(name.dropFirst(AddedSource.prefix.count)), stored: value)
            })
    }
}

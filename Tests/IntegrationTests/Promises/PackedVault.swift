import BrokerTestSupport
import BrokerValues
import Foundation

/// A vault as text: the key that opens it, its content, and SQL that makes its file. In `Fixtures/vault-format-N-KIND.sql`.
struct PackedVault {
    enum Kind: String, CaseIterable {
        /// A person's own, with a key file.
        case user
        /// The same, opened by a passphrase.
        case passphrase
        /// A vault of a broker for two users.
        case system
    }

    static let passphrase = "correct horse battery staple"
    private static let keyMark = "-- key "
    private static let contentMark = "-- content "
    private static let backupMark = "-- backup "

    var kind: Kind
    /// The text of the key file; `nil` without one.
    var key: String?
    /// Its broker's report, by the uid of each user.
    var content: JSONObject
    /// Its broker's backup, in base64, with the same passphrase; `nil` if none was made.
    var backup: String?
    var sql: String

    var format: Int { sql.firstMatch(of: /user_version = (\d+)/).flatMap { Int($0.1) } ?? 0 }

    // MARK: Text

    init(kind: Kind, key: String?, content: JSONObject, backup: String? = nil, sql: String) {
        (self.kind, self.key, self.content, self.backup, self.sql) = (kind, key, content, backup, sql)
    }

    init(reading file: String) throws {
        let text = try String(contentsOfFile: file, encoding: .utf8)
        func line(_ mark: String) -> String? {
            text.split(separator: "\n").first { $0.hasPrefix(mark) }.map { String($0.dropFirst(mark.count)) }
        }
        let name = file.split(separator: "/").last?.split(separator: "-").last?.dropLast(".sql".count)
        guard let kind = name.flatMap({ Kind(rawValue: String($0)) }), let content = line(Self.contentMark) else {
            throw ProcessFailure("\(file) is no packed vault")
        }
        let decoded = try JSONDecoder().decode(JSONObject.self, from: Data(content.utf8))
        self.init(
            kind: kind, key: line(Self.keyMark).map { "token-broker vault key 1\n\($0)\n" }, content: decoded,
            backup: line(Self.backupMark), sql: text)
    }

    func write(to file: String, madeBy version: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var head = ["-- A vault that the programs of version \(version) wrote. Its key is good for nothing else."]
        if let key = key?.split(separator: "\n").last { head.append(Self.keyMark + key) }
        head.append(Self.contentMark + String(decoding: try encoder.encode(content), as: UTF8.self))
        if let backup { head.append(Self.backupMark + backup) }
        try (head.joined(separator: "\n") + "\n" + sql).write(toFile: file, atomically: true, encoding: .utf8)
    }

    // MARK: Files

    /// - Parameter folder: the state of a broker that has ended.
    static func pack(_ folder: String, _ kind: Kind, _ content: JSONObject, in bed: TestBed) async throws -> PackedVault
    {
        let script = """
            import sqlite3, sys
            vault = sqlite3.connect(sys.argv[1])
            for name in ("application_id", "user_version"):
                print(f"PRAGMA {name} = {vault.execute('PRAGMA ' + name).fetchone()[0]};")
            print("BEGIN;")
            tables = []
            # In their order: a vault whose tables are others is refused.
            made = "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid"
            for kind, name, sql in vault.execute(made):
                print(sql + ";")
                if kind == "table":
                    tables.append(name)
            for table in tables:
                columns = [row[1] for row in vault.execute(f"PRAGMA table_info({table})")]
                values = " || ',' || ".join(f'quote("{name}")' for name in columns)
                for row in vault.execute(f"SELECT {values} FROM {table}"):
                    print(f"INSERT INTO {table} VALUES({row[0]});")
            print("COMMIT;")
            """
        let dump = try await bed.run(Launch("python3", ["-c", script, folder + "/vault.db"]))
        guard dump.succeeded else { throw ProcessFailure("\(dump)") }
        let key = try? String(contentsOfFile: folder + "/vault.key", encoding: .utf8)
        return PackedVault(kind: kind, key: key, content: content, sql: dump.output)
    }

    /// - Returns: a folder on which a broker can be started.
    func unpack(in bed: TestBed, owner: UInt32 = 0) async throws -> String {
        let folder = try bed.makeDirectory("state")
        let script = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.stdin.read())"
        let made = try await bed.run(Launch("python3", ["-c", script, folder + "/vault.db"]), input: sql)
        guard made.succeeded else { throw ProcessFailure("\(made)") }
        if let key { try key.write(toFile: folder + "/vault.key", atomically: true, encoding: .utf8) }
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            chmod(folder + "/" + name, 0o600)
            if owner > 0 { chown(folder + "/" + name, owner, owner) }
        }
        chmod(folder, 0o700)
        if owner > 0 { chown(folder, owner, owner) }
        return folder
    }
}

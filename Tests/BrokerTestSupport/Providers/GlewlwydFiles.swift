import CSQLite
import Foundation

/// The files that glewlwyd reads when it starts: configuration, database, and the pages of its login application.
enum GlewlwydFiles {
    private static let schema = "/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3"
    private static let pages = "/usr/share/glewlwyd/webapp"
    private static let pageSettings = "/usr/share/glewlwyd/templates/config.json"

    /// Creates them, and returns the configuration file's path.
    static func make(in directory: String, port: UInt16, base: String, certificate: TestCertificate?) throws -> String {
        try copyPages(to: "\(directory)/pages")
        try makeDatabase("\(directory)/glewlwyd.sqlite")
        let path = "\(directory)/glewlwyd.conf"
        try configuration(directory: directory, port: port, base: base, certificate: certificate)
            .write(toFile: path, atomically: false, encoding: .utf8)
        return path
    }

    /// Its file server follows no links, and the package's pages contain some.
    private static func copyPages(to target: String) throws {
        let files = FileManager.default
        try files.createDirectory(atPath: target, withIntermediateDirectories: true)
        for path in try files.subpathsOfDirectory(atPath: pages) where path != "config.json" {
            let source = URL(filePath: "\(pages)/\(path)").resolvingSymlinksInPath()
            let isDirectory = try source.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true
            if isDirectory {
                try files.createDirectory(atPath: "\(target)/\(path)", withIntermediateDirectories: true)
            } else {
                try files.copyItem(atPath: source.path, toPath: "\(target)/\(path)")
            }
        }
        try files.copyItem(atPath: pageSettings, toPath: "\(target)/config.json")
    }

    private static func makeDatabase(_ path: String) throws {
        var database: OpaquePointer?
        defer { sqlite3_close(database) }
        // Fast to create, because it need not survive.
        let script =
            try "PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; BEGIN;"
            + String(contentsOfFile: schema, encoding: .utf8) + "COMMIT;"
        guard sqlite3_open(path, &database) == SQLITE_OK,
            sqlite3_exec(database, script, nil, nil, nil) == SQLITE_OK
        else {
            throw ProcessFailure("glewlwyd's database cannot be made: \(String(cString: sqlite3_errmsg(database))).")
        }
    }

    /// The numeric result of a query on a running glewlwyd's database.
    static func integer(_ query: String, in path: String) throws -> Int64 {
        var (database, statement): (OpaquePointer?, OpaquePointer?)
        defer {
            sqlite3_finalize(statement)
            sqlite3_close(database)
        }
        guard sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, nil) == SQLITE_OK,
            sqlite3_busy_timeout(database, 10_000) == SQLITE_OK,
            sqlite3_prepare_v2(database, query, -1, &statement, nil) == SQLITE_OK,
            sqlite3_step(statement) == SQLITE_ROW
        else {
            throw ProcessFailure("glewlwyd's database cannot be read: \(String(cString: sqlite3_errmsg(database))).")
        }
        return sqlite3_column_int64(statement, 0)
    }

    private static func configuration(
        directory: String, port: UInt16, base: String, certificate: TestCertificate?
    ) -> String {
        let types = [
            "html": "text/html", "css": "text/css", "js": "application/javascript", "json": "application/json",
            "png": "image/png", "ico": "image/x-icon", "woff2": "font/woff2", "woff": "font/woff", "ttf": "font/ttf",
        ]
        let typeList = types.map { "{ extension = \".\($0.key)\" mime_type = \"\($0.value)\" compress = 0 }" }
        var lines = [
            "port=\(port)", #"bind_address="127.0.0.1""#, #"external_url="\#(base)""#, #"login_url="login.html""#,
            #"api_prefix="api""#, #"static_files_path="\#(directory)/pages/""#, #"log_mode="file""#,
            #"log_level="INFO""#, #"log_file="\#(directory)/glewlwyd.log""#, #"cookie_domain="127.0.0.1""#,
            "cookie_secure=\(certificate == nil ? 0 : 1)", "session_expiration=86400",
            #"session_key="GLEWLWYD2_SESSION_ID""#, #"admin_scope="g_admin""#, #"profile_scope="g_profile""#,
            #"hash_algorithm="SHA512""#, #"database = { type = "sqlite3" path = "\#(directory)/glewlwyd.sqlite" };"#,
            "static_files_mime_types = (\(typeList.joined(separator: ", ")))",
        ]
        let modules = [
            "user": "user", "user_middleware": "user_middleware", "client": "client",
            "user_auth_scheme": "scheme", "plugin": "plugin",
        ]
        for (setting, folder) in modules { lines.append(#"\#(setting)_module_path="/usr/lib/glewlwyd/\#(folder)""#) }
        if let certificate {
            lines += [
                "use_secure_connection=true", #"secure_connection_key_file="\#(certificate.key)""#,
                #"secure_connection_pem_file="\#(certificate.certificate)""#,
            ]
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

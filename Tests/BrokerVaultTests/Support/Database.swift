import BrokerTestSupport
import CSQLite
import Foundation

/// Changes the database file as an attacker would, while no vault has it open.
func edit(_ file: URL, _ statements: String...) throws {
    for statement in statements { _ = try query(file, statement) }
}

/// Makes a new database with many statements.
func make(_ file: URL, _ script: String) throws {
    var database: OpaquePointer?
    defer { sqlite3_close(database) }
    guard
        sqlite3_open_v2(file.path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil) == SQLITE_OK,
        sqlite3_exec(database, script, nil, nil, nil) == SQLITE_OK
    else { throw ProcessFailure("\(file.path): \(String(cString: sqlite3_errmsg(database)))") }
}

/// The same with an earlier copy of the file: its tables are `old.record` and so on.
func edit(_ file: URL, with old: URL, _ statements: String) throws {
    var database: OpaquePointer?
    defer { sqlite3_close(database) }
    let script = "ATTACH '\(old.path)' AS old; BEGIN; \(statements); COMMIT"
    guard sqlite3_open_v2(file.path, &database, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK,
        sqlite3_exec(database, script, nil, nil, nil) == SQLITE_OK
    else { throw ProcessFailure("\(script): \(String(cString: sqlite3_errmsg(database)))") }
}

extension [UInt8] {
    var hexadecimal: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}

/// Rows as text; blobs in hexadecimal by `hex(…)` in the statement.
func query(_ file: URL, _ statement: String) throws -> [[String]] {
    var database: OpaquePointer?
    defer { sqlite3_close(database) }
    guard sqlite3_open_v2(file.path, &database, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else {
        throw ProcessFailure("\(file.path) does not open")
    }
    var prepared: OpaquePointer?
    defer { sqlite3_finalize(prepared) }
    guard sqlite3_prepare_v2(database, statement, -1, &prepared, nil) == SQLITE_OK else {
        throw ProcessFailure("\(statement): \(String(cString: sqlite3_errmsg(database)))")
    }
    var rows: [[String]] = []
    while true {
        switch sqlite3_step(prepared) {
        case SQLITE_DONE: return rows
        case SQLITE_ROW:
            rows.append(
                (0..<sqlite3_column_count(prepared)).map { column in
                    sqlite3_column_text(prepared, column).map { String(cString: $0) } ?? ""
                })
        default: throw ProcessFailure("\(statement): \(String(cString: sqlite3_errmsg(database)))")
        }
    }
}

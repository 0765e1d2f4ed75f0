import BrokerModel
import BrokerSystem
import BrokerVault
import CSQLite
import Glibc

/// A failed SQLite call, classified by what the caller can do about it.
struct SQLiteFailure {
    /// Extended result code.
    let code: Int32
    /// `errno` of an I/O error, 0 if there is none.
    let systemError: Int32
    let path: String

    var error: VaultError {
        switch code & 0xff {
        case SQLITE_FULL:
            return .full("The disk that holds \(path) is full. Free some space; the broker goes on by itself.")
        case SQLITE_IOERR where meansFull(systemError), SQLITE_CANTOPEN where meansFull(systemError):
            return .full(
                "\(path) may not grow (\(errnoText(systemError))). Free some space or raise the limit; "
                    + "the broker goes on by itself.")
        case SQLITE_CORRUPT, SQLITE_NOTADB:
            return .damaged("\(path) is damaged (SQLite code \(code)). Restore it from a backup, or move it away.")
        case _ where systemError == EROFS: return .io(readOnlyText(path))
        case SQLITE_BUSY, SQLITE_LOCKED:
            return .io("Another program keeps \(path) locked. End it and try again.")
        default:
            let cause = systemError == 0 ? "" : ", \(errnoText(systemError))"
            return .io(
                "\(path) cannot be used: \(String(cString: sqlite3_errstr(code))) (SQLite code \(code)\(cause)). "
                    + "Look at the disk and at the permissions of its directory.")
        }
    }
}

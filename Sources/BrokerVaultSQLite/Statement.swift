import CSQLite

enum SQLValue {
    case integer(Int64)
    case text(String)
    case blob([UInt8])
}

/// A compiled statement.
final class Statement {
    let handle: OpaquePointer

    init(handle: OpaquePointer) { self.handle = handle }
    deinit { sqlite3_finalize(handle) }

    func bind(_ value: SQLValue, at index: Int32) -> Int32 {
        switch value {
        case .integer(let number): return sqlite3_bind_int64(handle, index, number)
        case .text(var text):
            return text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) {
                    broker_sqlite3_bind_text_copy(handle, index, $0.baseAddress, Int32(clamping: $0.count))
                }
            }
        case .blob(let bytes):
            return bytes.withUnsafeBytes {
                broker_sqlite3_bind_blob_copy(handle, index, $0.baseAddress, Int32(clamping: $0.count))
            }
        }
    }

    func reset() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }
}

/// The current row of a running statement.
struct Row {
    fileprivate let handle: OpaquePointer
    init(statement: OpaquePointer) { handle = statement }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    func text(_ column: Int32) -> String {
        String(decoding: blob(column), as: UTF8.self)
    }

    func blob(_ column: Int32) -> [UInt8] {
        guard let bytes = sqlite3_column_blob(handle, column) else { return [] }
        return [UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column))))
    }
}

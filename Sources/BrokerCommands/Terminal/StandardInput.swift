import Glibc

/// Standard input, without `stdin`: a thread that waits in `readLine` holds its lock, for which `exit` waits from glibc 2.41 on.
enum StandardInput {
    /// The next byte; `nil` at the end.
    static func byte() -> UInt8? {
        var byte: UInt8 = 0
        while true {
            let count = read(STDIN_FILENO, &byte, 1)
            if count < 0, errno == EINTR { continue }
            return count == 1 ? byte : nil
        }
    }

    /// The next line, without its end (`\n` or `\r\n`); `nil` at the end of input.
    static func line() -> String? {
        var line: [UInt8] = []
        var isEnded = false
        while !isEnded, let byte = byte() {
            isEnded = byte == UInt8(ascii: "\n")
            if !isEnded { line.append(byte) }
        }
        guard isEnded || !line.isEmpty else { return nil }
        if isEnded, line.last == UInt8(ascii: "\r") { line.removeLast() }
        return String(decoding: line, as: UTF8.self)
    }
}

extension String {
    /// Without white space at either end.
    var trimmed: String {
        guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(self[first...last])
    }
}

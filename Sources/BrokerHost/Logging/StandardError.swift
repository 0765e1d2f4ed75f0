import BrokerSystem
import BrokerValues
import Glibc
import Logging

/// Log lines for a terminal or a file: `2026-01-02T03:04:05Z warning message app=mail`.
package enum StandardError {
    static func write(_ entry: LogEntry, at time: Int) {
        // One write per line, so that lines of several threads do not mix.
        _ = writeAll((render(entry, at: time) + "\n").utf8, to: STDERR_FILENO)
    }

    /// - Parameter time: seconds since 1970.
    package static func render(_ entry: LogEntry, at time: Int) -> String {
        var line = "\(utcText(Int64(time))) \(entry.level.rawValue) \(entry.message)"
        for (name, value) in entry.fields { line += " \(name)=\(quoted(value))" }
        return line
    }

    private static func quoted(_ value: String) -> String {
        let isPlain = !value.isEmpty && !value.unicodeScalars.contains { $0 == " " || $0 == "\"" || $0 == "=" }
        if isPlain { return value }
        // An unescaped backslash in the value would end the quotes too early.
        let escaped = value.replacing(scalar: "\\", with: "\\\\").replacing(scalar: "\"", with: "\\\"")
        return "\"\(escaped)\""
    }
}

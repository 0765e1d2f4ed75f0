import CSystemd
import Glibc
import Logging

/// The systemd journal's native protocol: every value is a separate field for `journalctl` to select by.
package enum Journal {
    /// `MESSAGE`, `PRIORITY` and `SYSLOG_IDENTIFIER` follow systemd.journal-fields(7); our own are `BROKER_…`.
    package static func fields(of entry: LogEntry) -> [String] {
        [
            "MESSAGE=\(entry.message)", "PRIORITY=\(priority(entry.level))", "SYSLOG_IDENTIFIER=brokerd",
            "BROKER_LOGGER=\(LogEntry.line(entry.label))",
        ] + entry.fields.map { "\(fieldName($0.name))=\($0.value)" }
    }

    /// `correlationID` and `correlation-id` are both `BROKER_CORRELATION_ID`: capital letters, digits and underscores,
    /// 64 at most.
    package static func fieldName(_ key: String) -> String {
        var name = "BROKER_"
        var lastWasLower = false
        for scalar in key.unicodeScalars {
            switch scalar {
            case "A"..."Z":
                if lastWasLower { name += "_" }
                name.unicodeScalars.append(scalar)
                lastWasLower = false
            case "a"..."z":
                name += String(scalar).uppercased()
                lastWasLower = true
            case "0"..."9":
                name.unicodeScalars.append(scalar)
                lastWasLower = true
            default:
                if !name.hasSuffix("_") { name += "_" }
                lastWasLower = false
            }
        }
        return String(name.prefix(64))
    }

    package static func priority(_ level: Logger.Level) -> Int32 {
        switch level {
        case .trace, .debug: LOG_DEBUG
        case .info: LOG_INFO
        case .notice: LOG_NOTICE
        case .warning: LOG_WARNING
        case .error: LOG_ERR
        case .critical: LOG_CRIT
        }
    }

    static func write(_ entry: LogEntry) {
        var bytes: [UInt8] = []
        var ends: [Int] = []
        for field in fields(of: entry) {
            bytes.append(contentsOf: field.utf8)
            ends.append(bytes.count)
        }
        bytes.withUnsafeMutableBytes { buffer in
            var start = 0
            let vectors = ends.map { end in
                defer { start = end }
                return iovec(iov_base: buffer.baseAddress.map { $0 + start }, iov_len: end - start)
            }
            // Without a journal the entry is lost; there is no better place to report it.
            _ = sd_journal_sendv(vectors, Int32(vectors.count))
        }
    }
}

import BrokerValues
import Logging

/// A log event, flattened and cleaned, for both destinations.
package struct LogEntry {
    var level: Logger.Level
    var label: String
    var message: String
    /// The metadata, ordered by name.
    var fields: [(name: String, value: String)]

    package init(label: String, event: LogEvent, metadata: Logger.Metadata) {
        level = event.level
        self.label = label
        message = Self.line(event.message.description)
        var all = metadata.merging(event.metadata ?? [:]) { $1 }
        if let error = event.error { all["error"] = .string(String(describing: error)) }
        fields = all.sorted { $0.key < $1.key }
            .map { (Self.line($0.key, atMost: 64), Self.line($0.value.description)) }
    }
    /// Keeps an entry on one line, and makes characters visible with which a peer forges an entry or hides text.
    package static func line(_ text: String, atMost length: Int = 4096) -> String {
        SafeText(text, atMost: length, .escape).text
    }
}

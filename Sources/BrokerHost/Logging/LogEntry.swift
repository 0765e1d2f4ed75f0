import Logging

/// A log event, flattened and cleaned: what both destinations write.
package struct LogEntry {
    var level: Logger.Level
    var label: String
    var message: String
    /// In the order of their names.
    var fields: [(name: String, value: String)]

    package init(label: String, event: LogEvent, metadata: Logger.Metadata) {
        level = event.level
        self.label = label
        message = LogText.clean(event.message.description)
        var all = metadata.merging(event.metadata ?? [:]) { $1 }
        if let error = event.error { all["error"] = .string(String(describing: error)) }
        fields = all.sorted { $0.key < $1.key }
            .map { (LogText.clean($0.key, limit: 64), LogText.clean($0.value.description)) }
    }
}

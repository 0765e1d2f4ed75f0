import Logging
import Synchronization

/// Keeps what is logged, with its metadata.
package final class LogCollector: LogHandler, Sendable {
    private let kept = Mutex<[LogEvent]>([])

    package init() {}

    /// A logger that writes here.
    package var logger: Logger { Logger(label: "test") { _ in self } }

    package var lines: [String] {
        kept.withLock { $0 }.map { "\($0.level) \($0.message) \($0.metadata ?? [:])" }
    }
    package var text: String { lines.joined(separator: "\n") }

    /// What the lines that have the field say in it.
    package func values(of field: String) -> [String] {
        kept.withLock { $0 }.compactMap { $0.metadata?[field].map { "\($0)" } }
    }

    package func log(event: LogEvent) { kept.withLock { $0.append(event) } }

    package var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    package var logLevel: Logger.Level {
        get { .trace }
        set {}
    }
    package subscript(metadataKey _: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }
}

extension Logger {
    /// For tests that do not look at the log.
    package static let silent = Logger(label: "test", factory: SwiftLogNoOpLogHandler.init)
}

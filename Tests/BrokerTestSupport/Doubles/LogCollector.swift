import Logging
import Synchronization

/// Records the log with its metadata.
package final class LogCollector: LogHandler, Sendable {
    private let kept = Mutex<[LogEvent]>([])

    package init() {}

    /// A logger that writes here.
    package var logger: Logger { Logger(label: "test") { _ in self } }

    package var lines: [String] {
        kept.withLock { $0 }.map { "\($0.level) \($0.message) \($0.metadata ?? [:])" }
    }
    package var text: String { lines.joined(separator: "\n") }

    /// The values of a field in the lines that have it.
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
    /// For tests that ignore the log.
    package static let silent = Logger(label: "test", factory: SwiftLogNoOpLogHandler.init)
}

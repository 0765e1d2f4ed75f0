import Logging
import Synchronization

/// Keeps what is logged, with its metadata.
final class LogCollector: LogHandler, Sendable {
    private let kept = Mutex<[String]>([])

    var lines: [String] { kept.withLock { $0 } }
    var text: String { lines.joined(separator: "\n") }

    func log(event: LogEvent) {
        kept.withLock { $0.append("\(event.level) \(event.message) \(event.metadata ?? [:])") }
    }

    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    var logLevel: Logger.Level {
        get { .trace }
        set {}
    }
    subscript(metadataKey _: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }
}

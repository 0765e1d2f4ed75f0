import BrokerSystem
import Glibc
import Logging
import Synchronization

/// The daemon's log: its destination is determined once, its level can change while it runs.
package final class BrokerLog: Sendable {
    package enum Destination: String, Sendable {
        case journal
        case standardError = "stderr"
    }

    package let destination: Destination
    /// The rank of the level. It is atomic because every request checks it.
    private let threshold: Atomic<Int>

    package init(level: Logger.Level = .info, destination: Destination = .forStandardError()) {
        threshold = Atomic(level.place)
        self.destination = destination
    }

    /// Takes effect at once for every logger made from this log (SIGHUP).
    package var level: Logger.Level {
        get { Logger.Level.allCases[threshold.load(ordering: .relaxed)] }
        set { threshold.store(newValue.place, ordering: .relaxed) }
    }

    /// A handler for `LoggingSystem.bootstrap`, or for a single logger.
    package func handler(label: String) -> any LogHandler { BrokerLogHandler(label: label, log: self) }

    package func logger(label: String) -> Logger { Logger(label: label, factory: handler) }
}

extension Logger.Level {
    fileprivate var place: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

extension BrokerLog.Destination {
    /// The journal if stderr is connected to it: `$JOURNAL_STREAM` has the device and inode set by systemd (systemd.exec(5)). A
    /// variable inherited by a program with redirected stderr does not match.
    package static func forStandardError(
        environment: [String: String] = ProcessEnvironment.current()
    ) -> BrokerLog.Destination {
        var status = stat()
        guard let stream = environment["JOURNAL_STREAM"], fstat(STDERR_FILENO, &status) == 0 else {
            return .standardError
        }
        return stream == "\(status.st_dev):\(status.st_ino)" ? .journal : .standardError
    }
}

/// The swift-log handler of ``BrokerLog``.
struct BrokerLogHandler: LogHandler {
    let label: String
    let log: BrokerLog
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    /// The level of a logger that has one of its own.
    private var ownLevel: Logger.Level?

    init(label: String, log: BrokerLog) {
        self.label = label
        self.log = log
    }

    var logLevel: Logger.Level {
        get { ownLevel ?? log.level }
        set { ownLevel = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let provided = metadataProvider?.get() ?? [:]
        let entry = LogEntry(label: label, event: event, metadata: provided.merging(metadata) { $1 })
        switch log.destination {
        case .journal: Journal.write(entry)
        case .standardError: StandardError.write(entry, at: time(nil))
        }
    }
}

import BrokerConfig
import BrokerModel
import BrokerRPC
import BrokerValues
import Synchronization

/// The last time that the running broker read its configuration, for `broker.status`.
final class ConfigurationReading: Sendable {
    private let clock: any BrokerClock
    private let current: Mutex<GetBrokerStatus.Configuration>

    init(of files: ConfigurationFiles, clock: any BrokerClock) {
        self.clock = clock
        current = Mutex(GetBrokerStatus.Configuration(files: files.paths, readOn: clock.now))
    }

    var report: GetBrokerStatus.Configuration { current.withLock { $0 } }

    /// - Parameter pending: new settings that need a restart.
    func happened(pending: [String]) {
        current.withLock { current in
            current.readOn = clock.now
            current.reads += 1
            current.pending = pending
        }
    }
}

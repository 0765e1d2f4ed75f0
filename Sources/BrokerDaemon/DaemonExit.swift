import BrokerConfig

/// The exit status of `brokerd` (protocol.md, "brokerd").
package enum DaemonExit: Int32, Sendable {
    case stopped = 0
    /// The socket could not be bound, or there was any other failure.
    case failed = 1
    case configuration = 2
    case vault = 4
}

/// The reason why the broker does not start. The text is for the person who starts it.
struct StartFailure: Error {
    var exit: DaemonExit
    var text: String
}

extension ConfigurationLoader {
    /// The configuration that the daemon starts with.
    func loadAtStart() throws(StartFailure) -> LoadedConfiguration {
        do throws(ConfigurationError) {
            return try load()
        } catch {
            throw StartFailure(exit: .configuration, text: "\(error)")
        }
    }
}

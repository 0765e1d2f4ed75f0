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

    /// Takes a step of the start, whose error is a sentence for the person.
    static func orThrow<Value, Failure: Error>(
        _ exit: DaemonExit, _ step: () throws(Failure) -> Value
    ) throws(StartFailure) -> Value {
        do throws(Failure) { return try step() } catch { throw StartFailure(exit: exit, text: "\(error)") }
    }
}

extension ConfigurationLoader {
    /// The configuration that the daemon starts with.
    func loadAtStart() throws(StartFailure) -> LoadedConfiguration {
        try StartFailure.orThrow(.configuration) { () throws(ConfigurationError) in try load() }
    }
}

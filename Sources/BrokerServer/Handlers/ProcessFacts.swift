import BrokerRPC

/// The facts of `broker.status` that only the process knows.
package struct ProcessFacts: Sendable {
    package var version: String
    package var mode: GetBrokerStatus.Mode
    /// ``BrokerClock/uptime`` at start.
    package var startedAt: Duration
    /// The source of the settings; `nil` if no file is read.
    package var configuration: @Sendable () -> GetBrokerStatus.Configuration? = { nil }
    /// The process's memory; `nil` if the system does not say.
    package var residentBytes: @Sendable () -> Int? = { nil }

    package init(version: String, mode: GetBrokerStatus.Mode, startedAt: Duration) {
        self.version = version
        self.mode = mode
        self.startedAt = startedAt
    }
}

import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues
import Glibc

/// Makes the running broker reload a changed configuration file, and reports the result. Calls systemd and the broker, otherwise
/// pure.
struct RunningConfiguration {
    private let connection: DirectConnection
    /// A broker with a different socket is not run by systemd.
    private let isUsual: Bool
    private let units: BrokerUnits

    /// How often a reloading broker is polled, and the microseconds in between.
    private static let looks = 50
    private static let pause: UInt32 = 100_000

    init(_ broker: TargetBroker, _ connection: DirectConnection) {
        self.connection = connection
        (isUsual, units) = (broker.isUsual, broker.units)
    }

    /// One line: whether the settings are in force.
    func takeChanges() -> String {
        guard isUsual else { return "The broker reads it when it starts or receives SIGHUP.\n" }
        guard isActive else { return "The broker reads it when it starts.\n" }
        // The status says whether all of the configuration is right, files of apps included.
        guard let before = reading, run(["reload", units.service]) != nil, let reading = reading(after: before)
        else {
            return "The broker did not apply it; \(units.journal.joined(separator: " ")) says why.\n"
        }
        guard !reading.pending.isEmpty else { return "The broker has applied it.\n" }
        let names = reading.pending.joined(separator: ", ").clean
        return "The broker has read it; \(names) takes effect after: \(units.advice("restart \(units.service)"))\n"
    }

    private var isActive: Bool { run(["is-active", "--quiet", units.service]) == 0 }

    /// When `systemctl` returns, the reload signal may not have arrived yet.
    private func reading(after before: GetBrokerStatus.Configuration) -> GetBrokerStatus.Configuration? {
        for _ in 0..<Self.looks {
            guard let reading else { return nil }
            if reading.reads != before.reads { return reading }
            usleep(Self.pause)
        }
        return nil
    }

    private var reading: GetBrokerStatus.Configuration? {
        (try? connection.call(GetBrokerStatus.self, .init()))?.configuration
    }

    private func run(_ words: [String]) -> Int32? { ChildProcess.report(of: units.manager + words)?.status }
}

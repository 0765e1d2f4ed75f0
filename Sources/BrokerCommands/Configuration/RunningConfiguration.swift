import BrokerLink
import BrokerRPC
import BrokerValues
import Glibc

/// Has the running broker take a configuration file that was changed, and says what became of that. Pure but for systemd and the
/// broker, which it asks.
struct RunningConfiguration {
    private let connection: DirectConnection
    /// With a socket of its own the broker is none of systemd's.
    private let isUsual: Bool
    private let units: BrokerUnits

    /// How often a broker that was told to reload is asked, and the microseconds in between.
    private static let looks = 50
    private static let pause: UInt32 = 100_000

    init(_ broker: TargetBroker, _ connection: DirectConnection) {
        self.connection = connection
        (isUsual, units) = (broker.isUsual, broker.units)
    }

    /// One line: whether the settings are in force.
    func takeChanges() -> String {
        guard isUsual else { return "The broker reads it when it starts, or gets the signal HUP.\n" }
        guard isActive else { return "The broker reads it when it starts.\n" }
        guard let before = reading, run(["reload", units.service]) == 0, let reading = reading(after: before)
        else {
            return "The broker did not take it; \(units.journal.joined(separator: " ")) says why.\n"
        }
        guard !reading.pending.isEmpty else { return "The broker has taken it.\n" }
        let names = reading.pending.joined(separator: ", ").clean
        return "The broker has read it; \(names) takes effect after: \(units.advice("restart \(units.service)"))\n"
    }

    private var isActive: Bool { run(["is-active", "--quiet", units.service]) == 0 }

    /// The signal for a reload is on its way when `systemctl` returns.
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

import BrokerLink
import BrokerRPC
import BrokerValues
import Glibc

/// Has the person's running broker take a configuration file that was changed, and says what became of that. Pure but for
/// systemd and the broker, which it asks.
struct RunningConfiguration {
    let connection: DirectConnection
    /// With a socket of its own the broker is none of systemd's, and reads other files.
    let isUsualBroker: Bool

    /// How often a broker that was told to reload is asked, and the microseconds in between.
    private static let looks = 50
    private static let pause: UInt32 = 100_000

    init(_ context: CommandContext, _ global: GlobalOptions) {
        connection = context.connection
        isUsualBroker = global.socket == nil
    }

    /// One line: whether the settings are in force.
    func takeChanges() -> String {
        guard isUsualBroker, isActive else { return "The broker reads it when it starts.\n" }
        guard let before = reading, Self.run(["reload", "brokerd.service"]) == 0, let reading = reading(after: before)
        else {
            return "The broker did not take it; journalctl --user-unit brokerd says why.\n"
        }
        guard !reading.pending.isEmpty else { return "The broker has taken it.\n" }
        let names = reading.pending.joined(separator: ", ").clean
        return "The broker has read it; \(names) takes effect after: systemctl --user restart brokerd.service\n"
    }

    private var isActive: Bool { Self.run(["is-active", "--quiet", "brokerd.service"]) == 0 }

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

    private static func run(_ words: [String]) -> Int32? {
        ChildProcess.report(of: ["systemctl", "--user"] + words)?.status
    }
}

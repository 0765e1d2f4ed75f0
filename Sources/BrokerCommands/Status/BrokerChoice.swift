import BrokerLink
import BrokerRPC
import BrokerValues

/// Whether the broker that answers is the expected one: the installed version, and the only broker.
enum BrokerChoice {
    static func findings(_ status: GetBrokerStatus.Result, at location: SocketLocation) -> [CheckResult] {
        [version(status), location.other.map(another)].compactMap(\.self)
    }

    /// brokerctl and brokerd are installed together, but an upgrade may leave the old daemon running.
    private static func version(_ status: GetBrokerStatus.Result) -> CheckResult? {
        guard status.version != BrokerVersion.text else { return nil }
        let units = status.mode == .system ? BrokerUnits.machine : .own
        return CheckResult(
            "Version", .note, "The running broker is \(status.version), the installed one \(BrokerVersion.text).",
            advice: units.advice("restart \(units.service)"))
    }

    private static func another(_ path: String) -> CheckResult {
        CheckResult(
            "Brokers", .note, "The machine's broker listens at \(path), too, and has accounts and tokens of its own.",
            advice: "systemctl --user mask --now brokerd.socket, to use that one")
    }
}

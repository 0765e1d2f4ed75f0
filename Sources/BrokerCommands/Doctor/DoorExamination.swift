import BrokerLink
import BrokerRPC
import BrokerValues

extension DoctorChecks {
    /// Checks the socket for programs that use oidc-agent.
    ///
    /// - Parameters:
    ///   - doors: as reported by the broker; `nil` if it does not report them.
    ///   - units: the broker's.
    ///   - variable: `OIDC_SOCK`.
    ///   - trouble: the problem at a socket, as the end of a sentence.
    /// - Returns: `nil` if there is nothing to report.
    package static func agentDoor(
        _ doors: [OpenDoor]?, _ units: BrokerUnits, variable: String, trouble: (String) -> String?
    ) -> CheckResult? {
        let name = "oidc-agent"
        guard let path = doors?.first(where: { $0.name == name })?.path else {
            guard !variable.isEmpty else { return nil }
            return CheckResult(
                name, .note, "OIDC_SOCK is \(variable), but the broker does not listen for such programs.")
        }
        if let trouble = trouble(path) {
            return CheckResult(
                name, .bad, "Programs that ask oidc-agent do not reach the broker at \(path): \(trouble).",
                advice: units.advice("restart \(units.socket)"))
        }
        guard variable.isEmpty || variable.isExactly(path) else {
            return CheckResult(
                name, .note,
                "OIDC_SOCK is \(variable), so programs ask another agent there instead of the broker at \(path).",
                advice: #"eval "$(brokerctl env)""#)
        }
        let rest = variable.isEmpty ? "; OIDC_SOCK is not set here (brokerctl env prints it)" : ""
        return CheckResult(name, .good, "Programs that ask oidc-agent reach the broker at \(path)\(rest).")
    }
}

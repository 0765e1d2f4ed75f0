import BrokerRPC
import BrokerValues

extension DoctorChecks {
    /// The socket for programs that ask oidc-agent.
    ///
    /// - Parameters:
    ///   - doors: as the broker tells them; nil from one that does not.
    ///   - variable: `OIDC_SOCK`.
    ///   - trouble: what is wrong at a socket, as a sentence's end.
    /// - Returns: nil where there is nothing to say.
    package static func agentDoor(
        _ doors: [OpenDoor]?, variable: String, trouble: (String) -> String?
    ) -> CheckResult? {
        let name = "oidc-agent"
        guard let path = doors?.first(where: { $0.name == name })?.path else {
            guard !variable.isEmpty else { return nil }
            return CheckResult(
                name, .note, "OIDC_SOCK is \(variable), and the broker does not listen for such programs.")
        }
        if let trouble = trouble(path) {
            return CheckResult(
                name, .bad, "Programs that ask oidc-agent do not reach the broker at \(path): \(trouble).",
                advice: "systemctl --user restart brokerd.socket")
        }
        guard variable.isEmpty || variable.isExactly(path) else {
            return CheckResult(
                name, .note,
                "OIDC_SOCK is \(variable), so programs ask another agent there, and not the broker at \(path).",
                advice: #"eval "$(brokerctl env)""#)
        }
        let rest = variable.isEmpty ? "; OIDC_SOCK is not set here (brokerctl env prints it)" : ""
        return CheckResult(name, .good, "Programs that ask oidc-agent reach the broker at \(path)\(rest).")
    }
}

import BrokerLink

/// Checks systemd's state of the broker's units.
extension DoctorChecks {
    /// - Parameter properties: `systemctl show` of the broker's socket, `Name=Value` in each line; `nil` if no systemd manager
    ///   runs.
    package static func socketUnit(_ properties: String?, _ units: BrokerUnits = .own) -> CheckResult {
        guard let properties else {
            let manager = units == .own ? "No systemd user manager" : "No systemd"
            return CheckResult("systemd", .note, "\(manager) answers here; the broker has to be started by hand.")
        }
        let values = values(properties)
        let (socket, enable) = (units.socket, units.advice("enable --now \(units.socket)"))
        switch (values["LoadState"], values["ActiveState"], values["UnitFileState"]) {
        case ("not-found", _, _):
            return CheckResult(
                "systemd", .bad, "There is no unit \(socket).", advice: "install the broker, then: \(enable)")
        case (_, "failed", _):
            let journal = units.journal.joined(separator: " ")
            return CheckResult(
                "systemd", .bad, "systemd has given up on \(socket); \(journal) says why.",
                advice: units.advice("restart \(socket)"))
        case (_, "active", "enabled"), (_, "active", "enabled-runtime"), (_, "active", "static"):
            return CheckResult("systemd", .good, "\(socket) is enabled and listens.")
        case (_, "active", _):
            return CheckResult(
                "systemd", .note, "\(socket) listens now, but will not after a reboot.",
                advice: units.advice("enable \(socket)"))
        default:
            return CheckResult("systemd", .bad, "\(socket) does not listen.", advice: enable)
        }
    }

    /// - Parameters:
    ///   - properties: the same for brokerd-session.service.
    ///   - isGroupProof: whether a program needs brokerctl's group to administer.
    package static func sessionUnit(_ properties: String?, isGroupProof: Bool) -> CheckResult? {
        let values = values(properties ?? "")
        guard isGroupProof, values["LoadState"] == "loaded", values["NoNewPrivileges"] == "yes" else { return nil }
        return CheckResult(
            "Session", .bad,
            "With admin.proof = \"setgid\" the session cannot ask you: the sandbox of brokerd-session.service keeps the group from it.",
            advice: "install its drop-in (operations, \"Let only brokerctl administer\")")
    }

    private static func values(_ properties: String) -> [Substring: Substring] {
        let pairs = properties.split(separator: "\n").compactMap { line -> (Substring, Substring)? in
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return parts.count == 2 ? (parts[0], parts[1]) : nil
        }
        return Dictionary(pairs) { $1 }
    }
}

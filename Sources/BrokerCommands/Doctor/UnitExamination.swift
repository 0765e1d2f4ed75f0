/// What systemd says of a person's units.
extension Examination {
    /// - Parameter properties: `systemctl show` of brokerd.socket, `Name=Value` in each line; nil where systemd has no manager
    ///   for this person.
    package static func socketUnit(_ properties: String?) -> Finding {
        guard let properties else {
            return Finding("systemd", .note, "No manager of yours answers here; the broker has to be started by hand.")
        }
        let values = values(properties)
        switch (values["LoadState"], values["ActiveState"], values["UnitFileState"]) {
        case ("not-found", _, _):
            return Finding(
                "systemd", .bad, "There is no unit brokerd.socket.",
                advice: "install the broker, then: systemctl --user enable --now brokerd.socket")
        case (_, "failed", _):
            return Finding(
                "systemd", .bad, "systemd has given up on brokerd.socket; journalctl --user-unit brokerd says why.",
                advice: "systemctl --user restart brokerd.socket")
        case (_, "active", "enabled"), (_, "active", "enabled-runtime"), (_, "active", "static"):
            return Finding("systemd", .good, "brokerd.socket is enabled and listens.")
        case (_, "active", _):
            return Finding(
                "systemd", .note, "brokerd.socket listens, but not after the next start of this machine.",
                advice: "systemctl --user enable brokerd.socket")
        default:
            return Finding(
                "systemd", .bad, "brokerd.socket does not listen.",
                advice: "systemctl --user enable --now brokerd.socket")
        }
    }

    /// - Parameters:
    ///   - properties: the same of brokerd-session.service.
    ///   - isGroupProof: whether a program needs brokerctl's group to administer.
    package static func sessionUnit(_ properties: String?, isGroupProof: Bool) -> Finding? {
        let values = values(properties ?? "")
        guard isGroupProof, values["LoadState"] == "loaded", values["NoNewPrivileges"] == "yes" else { return nil }
        return Finding(
            "Session", .bad,
            "With admin.proof = \"setgid\" the session cannot ask you: the sandbox of brokerd-session.service keeps the group from it.",
            advice: "put its drop-in in place (operations, \"Let only brokerctl administer\")")
    }

    private static func values(_ properties: String) -> [Substring: Substring] {
        let pairs = properties.split(separator: "\n").compactMap { line -> (Substring, Substring)? in
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return parts.count == 2 ? (parts[0], parts[1]) : nil
        }
        return Dictionary(pairs) { $1 }
    }
}

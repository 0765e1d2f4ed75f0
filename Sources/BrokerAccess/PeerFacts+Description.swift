import BrokerModel
import BrokerValues

extension PeerFacts {
    /// The facts that the tier followed from, as text. Absent facts are left out.
    package var described: CallerFacts {
        var facts: CallerFacts = [
            "pid": String(pid),
            "pinned": isPinned ? "yes" : "no",
            "rootMount": rootMount.rawValue,
            "userNamespace": userNamespace.rawValue,
            "pidNamespace": pidNamespace.rawValue,
            "networkNamespace": networkNamespace.rawValue,
        ]
        switch label {
        case .none: break
        case .text(let text): facts["label"] = text
        case .unreadable: facts["label"] = "unreadable"
        }
        facts["cgroup"] = cgroup?.path ?? "unreadable"
        facts["unit"] = unitNames.first
        facts["executable"] = executable
        if executable != nil { facts["executableOwner"] = executableIsRootOwned ? "root only" : "others, too" }
        if let attestedName { facts[String(attestedName.prefix { $0 != ":" })] = attestedName }
        facts["asksBy"] = front
        if lacksAdminProof { facts["adminProof"] = "missing" }
        if isHandedOn { facts["connectedBy"] = "another process" }
        if let sandbox {
            facts["socketOf"] = sandbox.name
            facts["instance"] = sandbox.instance
        }
        return facts
    }
}

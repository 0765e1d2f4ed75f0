import BrokerModel

/// Takes every peer for a program outside of sandboxes, or for the Flatpak that the test wants.
struct PlainInspector: PeerInspector {
    var sandboxID: String?

    func inspect(_ credentials: PeerCredentials) -> PeerFacts {
        var facts = PeerFacts(uid: credentials.uid, gid: credentials.gid, pid: credentials.pid)
        facts.isPinned = true
        (facts.rootMount, facts.userNamespace, facts.pidNamespace) = (sandboxID == nil ? .same : .other, .same, .same)
        facts.cgroup = ControlGroup(path: "/")
        facts.executable = "/test"
        facts.flatpakID = sandboxID
        return facts
    }
}

import BrokerModel
import Synchronization

/// Takes every peer for a program outside of sandboxes, or for the Flatpak that the test wants.
final class PlainInspector: PeerInspector {
    private let sandboxID: Mutex<String?>

    init(sandboxID: String? = nil) { self.sandboxID = Mutex(sandboxID) }

    /// Whoever connects from now on is this Flatpak; nil is outside again.
    func enter(_ sandboxID: String?) { self.sandboxID.withLock { $0 = sandboxID } }

    func inspect(_ credentials: PeerCredentials) -> PeerFacts {
        let sandboxID = sandboxID.withLock { $0 }
        var facts = PeerFacts(uid: credentials.uid, gid: credentials.gid, pid: credentials.pid)
        facts.isPinned = true
        (facts.rootMount, facts.userNamespace, facts.pidNamespace) = (sandboxID == nil ? .same : .other, .same, .same)
        facts.cgroup = ControlGroup(path: "/")
        facts.executable = "/test"
        facts.flatpakID = sandboxID
        return facts
    }
}

import BrokerModel
import BrokerTestSupport
import BrokerValues
import Dispatch
import Synchronization

/// Takes every peer for a program outside of sandboxes, or for the Flatpak chosen by the test.
final class PlainInspector: PeerInspector {
    private struct State {
        var sandboxID: String?
        /// The Flatpak of the peers after the next.
        var later: String?
        var isFront = false
    }

    private let state: Mutex<State>

    init(sandboxID: String? = nil) { state = Mutex(State(sandboxID: sandboxID)) }

    /// Peers that connect from now on are this Flatpak; `nil` means outside again.
    func enter(_ sandboxID: String?) { state.withLock { $0.sandboxID = sandboxID } }

    /// Whether peers that connect from now on are `brokerctl`. Inspecting a starter takes until ``showStarter()``.
    func takeForFronts(_ areFronts: Bool) { state.withLock { $0.isFront = areFronts } }

    /// How often peers were inspected.
    let looks = Tally()
    /// How many starters were inspected.
    let starters = Tally()
    private let starterIsShown = DispatchSemaphore(value: 0)
    func showStarter() { starterIsShown.signal() }

    /// The next peer is outside, and all later ones are this Flatpak.
    func enterAfterNext(_ sandboxID: String) { state.withLock { $0 = State(later: sandboxID) } }

    func inspect(_ credentials: PeerCredentials) -> PeerFacts {
        looks.add()
        let (sandboxID, isFront) = state.withLock { state in
            defer { state.sandboxID = state.later ?? state.sandboxID }
            return (state.sandboxID, state.isFront)
        }
        var facts = PeerFacts(uid: credentials.uid, gid: credentials.gid, pid: credentials.pid)
        facts.isPinned = true
        facts.rootMount = sandboxID == nil ? .same : .other
        (facts.userNamespace, facts.pidNamespace, facts.networkNamespace) = (.same, .same, .same)
        facts.cgroup = ControlGroup(path: "/")
        facts.executable = isFront ? "/usr/bin/brokerctl" : "/test"
        facts.executableIsRootOwned = isFront
        facts.attestedName = sandboxID.map(CallerName.flatpak)
        return facts
    }

    func inspectStarter(of credentials: PeerCredentials) -> PeerFacts? {
        starters.add()
        starterIsShown.wait()
        // For the next one.
        starterIsShown.signal()
        return nil
    }

    func hasMoved(_ credentials: PeerCredentials, since facts: PeerFacts, thoroughly: Bool) -> Bool { false }
}

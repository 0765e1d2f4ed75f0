import BrokerSystem
import BrokerValues

/// The facts from the kernel and /proc about the process at the other end of a connection.
///
/// Nothing here defaults to "outside a sandbox": a fact that was not read is marked so, and proves nothing.
package struct PeerFacts: Sendable, Equatable {
    /// From SO_PEERCRED, fixed at connect: access control depends on it.
    package var uid: UInt32
    package var gid: UInt32
    package var pid: Int32
    /// From SO_PEERSEC, fixed at connect.
    package var label = SecurityLabel.none
    /// Whether the facts below belong to the process that connected: a pidfd referred to it, it was still alive after the last of
    /// them was read, and it ran with the effective uid that it connected with.
    package var isPinned = false
    /// The root mount of the process, compared with the host's: reveals every sandbox with its own file systems.
    package var rootMount = HostComparison.unreadable
    /// Its id, which no other mount has while it exists: reveals that the root mount has changed since.
    package var rootMountID: UInt64?
    package var userNamespace = HostComparison.unreadable
    package var pidNamespace = HostComparison.unreadable
    package var networkNamespace = HostComparison.unreadable
    /// `nil` if it could not be read.
    package var cgroup: ControlGroup?
    /// The account of the process's system service (`User=`), if it is in one and systemd confirmed it.
    package var systemServiceUID: UInt32?
    /// Path of the executable, if it leads to the very file that runs. A hint, not authentication: a process can exec after it
    /// connected, and any process of the user can attach to it.
    package var executable: String?
    /// Whether only root can change that file and the folders above it.
    package var executableIsRootOwned = false
    /// The typed name of its sandbox (``CallerName``), if an attestor confirmed it from outside the sandbox.
    package var attestedName: String?
    /// The sandbox whose own socket the peer used: only its processes have access to it.
    package var sandbox: Sandbox?
    /// The state of the apps that it may name when its socket was opened, by name (``AppRegistration/grantBinding``): another
    /// client does not match.
    package var sandboxApps: [String: String?] = [:]

    /// Whether the broker requires more than being outside sandboxes, and the proof is missing.
    package var lacksAdminProof = false
    /// Whether the connection was made by another process than the one that uses it.
    package var isHandedOn = false
    /// Whether the broker serves every user: the units of their own managers are ignored then.
    package var isServedWithOthers = false
    /// The path of the `brokerctl` that this program started, and that asks on its behalf.
    package var front: String?

    package init(uid: UInt32, gid: UInt32, pid: Int32) {
        self.uid = uid
        self.gid = gid
        self.pid = pid
    }
}

/// A fact about a peer, compared with the same fact of the broker's own user outside sandboxes.
package enum HostComparison: String, Sendable, Equatable {
    case same
    case other
    case unreadable
}

/// The security module's label of the process that connected (SO_PEERSEC).
package enum SecurityLabel: Sendable, Equatable {
    /// No security module labels sockets here.
    case none
    case text(String)
    /// There is one, but its label could not be read in full.
    case unreadable
}

/// Credentials as taken from the socket at accept.
package struct PeerCredentials: Sendable, Equatable {
    package var uid: UInt32
    package var gid: UInt32
    package var pid: Int32
    package var label: SecurityLabel
    /// `nil` if there is no pidfd: the process had ended, or the kernel does not support it.
    package var process: PeerProcess?

    package init(
        uid: UInt32, gid: UInt32, pid: Int32, label: SecurityLabel = .none, process: PeerProcess? = nil
    ) {
        self.uid = uid
        self.gid = gid
        self.pid = pid
        self.label = label
        self.process = process
    }

    package static func == (left: PeerCredentials, right: PeerCredentials) -> Bool {
        left.uid == right.uid && left.gid == right.gid && left.pid == right.pid && left.label == right.label
            && left.process === right.process
    }
}

extension PeerFacts {
    /// The comparisons with the host that reveal a sandbox.
    package var places: [HostComparison] { [rootMount, userNamespace, pidNamespace, networkNamespace] }
}

/// The facts about a connected process, and about the program that started it if the process acts for that program.
package struct PeerSnapshot: Sendable {
    package let peer: PeerFacts
    /// `nil` if the process acts for itself, or the starter is unknown.
    package let starter: PeerFacts?

    package init(_ peer: PeerFacts, startedBy starter: PeerFacts? = nil) {
        (self.peer, self.starter) = (peer, starter)
    }
}

/// Examines the peer's process (Host).
package protocol PeerInspector: Sendable {
    func inspect(_ credentials: PeerCredentials) -> PeerFacts

    /// The program that started the peer's process; `nil` if it has ended, or runs as another user.
    func inspectStarter(of credentials: PeerCredentials) -> PeerFacts?

    /// Whether the process has moved since it was examined: it may have entered a sandbox.
    ///
    /// - Parameter thoroughly: compare everything that reveals a sandbox. Otherwise only the root, if one system call gives it.
    func hasMoved(_ credentials: PeerCredentials, since facts: PeerFacts, thoroughly: Bool) -> Bool
}

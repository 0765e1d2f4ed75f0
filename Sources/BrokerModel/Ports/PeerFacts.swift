import BrokerSystem
import BrokerValues

/// What the kernel and /proc say about the process at the other end of a connection.
///
/// Nothing here defaults to "outside of a sandbox": a fact that was not read says so, and proves nothing.
package struct PeerFacts: Sendable, Equatable {
    /// From SO_PEERCRED, fixed at connect: the hard gate.
    package var uid: UInt32
    package var gid: UInt32
    package var pid: Int32
    /// From SO_PEERSEC, fixed at connect.
    package var label = SecurityLabel.none
    /// Whether the facts below belong to the process that connected: it was held by a pidfd, it was still alive after the
    /// last of them was read, and it ran with the effective uid that it connected with.
    package var isPinned = false
    /// The mount at the root of the process, held against the host's: tells every sandbox with file systems of its own.
    package var rootMount = HostComparison.unreadable
    /// Its id, which no other mount has while it lives: tells that the process has another one since.
    package var rootMountID: UInt64?
    package var userNamespace = HostComparison.unreadable
    package var pidNamespace = HostComparison.unreadable
    package var networkNamespace = HostComparison.unreadable
    /// Nil when it could not be read.
    package var cgroup: ControlGroup?
    /// The account that a system service runs its processes as (`User=`), if the process is in one and systemd said so.
    package var systemServiceUID: UInt32?
    /// Path of the executable, if it leads to the very file that runs. A hint, not authentication: a process can exec after
    /// it connected, and any process of the user can attach to it.
    package var executable: String?
    /// Whether that file and the folders above it can be changed by root only.
    package var executableIsRootOwned = false
    /// A Flatpak application id that was confirmed from outside of the sandbox.
    package var flatpakID: String?
    /// The sandbox by whose own socket it came: only its processes are given that one.
    package var sandbox: Sandbox?
    /// What the apps that it may name were when its socket was opened, by name (``AppRegistration/grantBinding``): another
    /// client is not meant.
    package var sandboxApps: [String: String?] = [:]

    /// Whether the broker asks for more than to be outside of sandboxes, and this was not shown.
    package var lacksAdminProof = false
    /// Whether another process made the connection, and this one writes on it.
    package var isHandedOn = false
    /// Whether the broker serves every user: the units of their own managers count for nothing then.
    package var isServedWithOthers = false
    /// The path of the `brokerctl` that this program started, and that asks for it.
    package var front: String?

    package init(uid: UInt32, gid: UInt32, pid: Int32) {
        self.uid = uid
        self.gid = gid
        self.pid = pid
    }
}

/// A fact about a peer, held against the same fact of the broker's own user outside of sandboxes.
package enum HostComparison: String, Sendable, Equatable {
    case same
    case other
    case unreadable
}

/// What a security module says about the process that connected (SO_PEERSEC).
package enum SecurityLabel: Sendable, Equatable {
    /// No security module labels sockets here.
    case none
    case text(String)
    /// There is one, and its label could not be had in full.
    case unreadable
}

/// Credentials as taken from the socket at accept.
package struct PeerCredentials: Sendable, Equatable {
    package var uid: UInt32
    package var gid: UInt32
    package var pid: Int32
    package var label: SecurityLabel
    /// Nil when the process could not be held: it had ended, or the kernel has no pidfd for it.
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
    /// How the process stands to the host, in every respect by which a sandbox is told.
    package var places: [HostComparison] { [rootMount, userNamespace, pidNamespace, networkNamespace] }
}

/// What was seen of a process that connected, and of the program that started it where it speaks for that one.
package struct PeerSnapshot: Sendable {
    package let peer: PeerFacts
    /// Nil where it speaks for itself, or where nobody can be told.
    package let starter: PeerFacts?

    package init(_ peer: PeerFacts, startedBy starter: PeerFacts? = nil) {
        (self.peer, self.starter) = (peer, starter)
    }
}

/// Looks the peer's process up (Host).
package protocol PeerInspector: Sendable {
    func inspect(_ credentials: PeerCredentials) -> PeerFacts

    /// The program that started the peer's process; nil when it has ended, or runs as another user.
    func inspectStarter(of credentials: PeerCredentials) -> PeerFacts?

    /// Whether the process stands elsewhere than when it was looked at: it may have entered a sandbox since.
    ///
    /// - Parameter thoroughly: everything is compared that tells a sandbox. Otherwise its root is, where one system call says it.
    func hasMoved(_ credentials: PeerCredentials, since facts: PeerFacts, thoroughly: Bool) -> Bool
}

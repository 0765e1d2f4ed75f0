/// What the kernel and /proc say about the process at the other end of a connection. A nil is "could not be told".
package struct PeerFacts: Sendable, Equatable {
    /// From SO_PEERCRED, fixed at connect: the hard gate.
    package var uid: UInt32
    package var gid: UInt32
    package var pid: Int32
    /// Path of the executable: a hint, not authentication (a process can exec after it connected).
    package var executable: String?
    /// Whether that file and the folders above it can be changed by root only.
    package var executableIsRootOwned: Bool
    /// systemd unit of the process.
    package var unit: String?
    package var unitIsSystem: Bool
    /// Flatpak application id or `snap.NAME.APP`.
    package var sandboxID: String?
    /// SO_PEERSEC.
    package var securityLabel: String?

    package init(
        uid: UInt32, gid: UInt32, pid: Int32, executable: String? = nil, executableIsRootOwned: Bool = false,
        unit: String? = nil, unitIsSystem: Bool = false, sandboxID: String? = nil, securityLabel: String? = nil
    ) {
        self.uid = uid
        self.gid = gid
        self.pid = pid
        self.executable = executable
        self.executableIsRootOwned = executableIsRootOwned
        self.unit = unit
        self.unitIsSystem = unitIsSystem
        self.sandboxID = sandboxID
        self.securityLabel = securityLabel
    }
}

/// Credentials as taken from the socket at accept.
package struct PeerCredentials: Sendable, Equatable {
    package var uid: UInt32
    package var gid: UInt32
    package var pid: Int32
    /// SO_PEERSEC, where a security module gives one.
    package var securityLabel: String?
    /// Where the kernel has SO_PEERPIDFD.
    package var process: PeerProcess?

    package init(
        uid: UInt32, gid: UInt32, pid: Int32, securityLabel: String? = nil, process: PeerProcess? = nil
    ) {
        self.uid = uid
        self.gid = gid
        self.pid = pid
        self.securityLabel = securityLabel
        self.process = process
    }

    package static func == (left: PeerCredentials, right: PeerCredentials) -> Bool {
        left.uid == right.uid && left.gid == right.gid && left.pid == right.pid
            && left.securityLabel == right.securityLabel && left.process === right.process
    }
}

/// Looks the peer's process up (Host).
package protocol PeerInspector: Sendable {
    func inspect(_ credentials: PeerCredentials) -> PeerFacts
}

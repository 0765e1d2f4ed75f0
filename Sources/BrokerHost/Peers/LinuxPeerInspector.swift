import BrokerModel
import CSystemd
import Glibc

/// Looks a peer up in /proc and in systemd's cgroups.
///
/// A process can vanish, exec or refuse to be read at any moment: whatever cannot be told stays nil, nothing here
/// throws or waits. A dozen system calls; meant for the first request of a connection, not for its accept.
package struct LinuxPeerInspector: PeerInspector {
    package init() {}

    package func inspect(_ credentials: PeerCredentials) -> PeerFacts {
        let bare = PeerFacts(
            uid: credentials.uid, gid: credentials.gid, pid: credentials.pid, securityLabel: credentials.securityLabel)
        guard let process = ProcessFolder.open(pid: credentials.pid), process.effectiveUID == credentials.uid else {
            return bare
        }
        var facts = bare
        if let executable = PeerExecutable(of: process) {
            facts.executable = executable.path
            facts.executableIsRootOwned = executable.isRootOwned
        }
        if let unit = PeerUnit(pid: credentials.pid) {
            facts.unit = unit.name
            facts.unitIsSystem = unit.isSystemService
        }
        facts.sandboxID = Sandbox.id(of: process, label: credentials.securityLabel)
        // While the process that the folder was opened for lives, its number belongs to nobody else, so everything
        // above is about one process. If it ended meanwhile, some of it may be about another.
        // Where the kernel holds the process that connected, that one is asked; elsewhere a number reused between
        // accept and here, by the same user, goes unnoticed.
        return process.isAlive && (credentials.process?.isRunning ?? true) ? facts : bare
    }
}

/// The systemd unit that a process runs in.
private struct PeerUnit {
    var name: String
    /// Root installed it: a service of the system's manager. A unit of a user's manager is a label that every process
    /// of that user can give itself, and a login session's scope says nothing about the program.
    var isSystemService: Bool

    init?(pid: Int32) {
        if let unit = Self.ask({ sd_pid_get_user_unit(pid, $0) }) {
            name = unit
            isSystemService = false
        } else if let unit = Self.ask({ sd_pid_get_unit(pid, $0) }) {
            name = unit
            isSystemService = unit.hasSuffix(".service") && !unit.hasPrefix("user@")
        } else {
            return nil
        }
    }

    private static func ask(_ call: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32) -> String? {
        var answer: UnsafeMutablePointer<CChar>?
        guard call(&answer) >= 0, let answer else { return nil }
        defer { free(answer) }
        return String(cString: answer)
    }
}

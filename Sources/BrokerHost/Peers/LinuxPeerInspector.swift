import BrokerModel
import BrokerSystem
import BrokerValues
import CBrokerLinux
import Glibc

/// Looks a peer up in /proc.
///
/// A process can vanish, exec or hide at any moment: unreadable facts are marked as such, nothing here throws, and no file system
/// of the peer's choosing is accessed, as it might never answer. About a dozen system calls.
package struct LinuxPeerInspector: PeerInspector {
    private let host: HostReference
    private let attestors: [any SandboxAttestor]
    private let services: SystemServices

    /// - Parameters:
    ///   - host: the reference for processes outside of sandboxes.
    ///   - runtimeDirectory: `$XDG_RUNTIME_DIR`, where Flatpak keeps its records of sandboxes.
    package init(host: HostReference = HostReference(), runtimeDirectory: String? = nil) {
        self.host = host
        attestors = [FlatpakInstances(runtimeDirectory: runtimeDirectory)]
        services = SystemServices()
    }

    package func inspect(_ credentials: PeerCredentials) -> PeerFacts {
        var facts = PeerFacts(uid: credentials.uid, gid: credentials.gid, pid: credentials.pid)
        facts.label = credentials.label
        let bare = facts
        guard let held = credentials.process, let process = ProcessFolder.open(pid: credentials.pid) else {
            return bare
        }
        look(at: process, &facts)
        facts.cgroup = process.read("cgroup", limit: Self.longestGroups) {
            // The relevant line may have been cut off.
            $0.count < Self.longestGroups ? .usable(String(foreign: $0)) : .gone
        }.value.map(ControlGroup.init(file:))
        if facts.places.contains(.other) {
            // Its paths belong to another root.
            for attestor in attestors where facts.attestedName == nil {
                facts.attestedName = attestor.name(of: process, uid: credentials.uid)
            }
        } else if let executable = PeerExecutable(of: process) {
            facts.executable = executable.path
            facts.executableIsRootOwned = executable.isRootOwned
        }
        // While the held process lives, no other has its number, so all of the above is about it.
        guard process.owner?.uid == credentials.uid, held.isRunning else { return bare }
        facts.isPinned = true
        if let service = facts.cgroup?.systemService { facts.systemServiceUID = services.account(of: service) }
        return facts
    }

    /// The bytes of `/proc/PID/cgroup` that are read: a path of 4 KiB in each of a dozen hierarchies.
    private static let longestGroups = 64 << 10

    private func look(at process: borrowing ProcessFolder, _ facts: inout PeerFacts) {
        (facts.rootMount, facts.rootMountID) = host.rootMount(of: process)
        facts.userNamespace = host.userNamespace(of: process)
        facts.pidNamespace = host.pidNamespace(of: process)
        facts.networkNamespace = host.networkNamespace(of: process)
    }

    package func hasMoved(_ credentials: PeerCredentials, since facts: PeerFacts, thoroughly: Bool) -> Bool {
        guard facts.isPinned, let held = credentials.process else { return false }
        guard let process = ProcessFolder.open(pid: credentials.pid) else { return held.isRunning }
        // Facts of a process that has ended meanwhile, or of the next one with its number, are worthless.
        guard thoroughly else {
            guard let root = ProcessView.describedRootMount(of: process) else { return false }
            return root != facts.rootMountID && held.isRunning
        }
        var now = facts
        look(at: process, &now)
        return now != facts && held.isRunning
    }

    package func inspectStarter(of credentials: PeerCredentials) -> PeerFacts? {
        guard let held = credentials.process, let process = ProcessFolder.open(pid: credentials.pid),
            let parent = process.parent, let folder = ProcessFolder.open(pid: parent), let owner = folder.owner,
            owner.uid == credentials.uid
        else { return nil }
        let descriptor = broker_hold_process(parent)
        guard descriptor >= 0 else { return nil }
        let facts = inspect(
            PeerCredentials(
                uid: owner.uid, gid: owner.gid, pid: parent, label: credentials.label,
                process: PeerProcess(owning: descriptor)))
        // While it is still the child, its parent has had the number all the time.
        guard facts.isPinned, process.parent == parent, held.isRunning else { return nil }
        return facts
    }
}

import BrokerModel
import BrokerValues
import Glibc

/// Looks a peer up in /proc.
///
/// A process can vanish, exec or hide at any moment: whatever cannot be read says so, nothing here throws, and nothing asks a
/// file system of the peer's choosing, which might never answer. About a dozen system calls.
package struct LinuxPeerInspector: PeerInspector {
    private let host: HostReference
    private let flatpak: FlatpakInstances
    private let services: SystemServices

    /// - Parameters:
    ///   - host: what a process outside of sandboxes looks like.
    ///   - runtimeDirectory: `$XDG_RUNTIME_DIR`, where Flatpak keeps what it knows of its sandboxes.
    package init(host: HostReference = .read(), runtimeDirectory: String? = nil) {
        self.host = host
        flatpak = FlatpakInstances(runtimeDirectory: runtimeDirectory)
        services = SystemServices()
    }

    package func inspect(_ credentials: PeerCredentials) -> PeerFacts {
        var facts = PeerFacts(uid: credentials.uid, gid: credentials.gid, pid: credentials.pid)
        facts.label = credentials.label
        let bare = facts
        guard let held = credentials.process, let process = ProcessFolder.open(pid: credentials.pid) else {
            return bare
        }
        facts.rootMount = host.rootMount(of: process)
        facts.userNamespace = host.userNamespace(of: process)
        facts.pidNamespace = host.pidNamespace(of: process)
        facts.cgroup = process.read("cgroup", limit: 4096) { .usable(String(foreign: $0)) }.value
            .map(ControlGroup.init(file:))
        if facts.isInside {
            // Its paths are of another root.
            facts.flatpakID = flatpak.confirmedID(of: process, uid: credentials.uid)
        } else if let executable = PeerExecutable(of: process) {
            facts.executable = executable.path
            facts.executableIsRootOwned = executable.isRootOwned
        }
        // While the process that is held lives, its number belongs to nobody else, so everything above is about it.
        guard process.effectiveUID == credentials.uid, held.isRunning else { return bare }
        facts.isPinned = true
        if let service = facts.cgroup?.systemService { facts.systemServiceUID = services.account(of: service) }
        return facts
    }
}

extension PeerFacts {
    fileprivate var isInside: Bool { [rootMount, userNamespace, pidNamespace].contains(.other) }
}

import BrokerModel
import Glibc

/// The reference for processes outside of every sandbox: pid 1, and the broker's parent (the user's manager, which may have
/// mounts of its own by pam_namespace). The broker itself is no reference: its unit may give it namespaces of its own.
package struct HostReference: Sendable {
    private let views: [ProcessView]
    /// The broker's own namespaces as links, if they are the host's: quicker to compare than ``ProcessView``.
    private let userNamespace: String?
    private let pidNamespace: String?
    private let networkNamespace: String?

    /// Reads the reference. Call it once, at the start: later the parent may be another process.
    package init() {
        let views = [1, getppid()].compactMap { ProcessView(of: $0) }
        self.views = views
        guard let own = ProcessFolder.open(pid: getpid()), let view = ProcessView(of: own) else {
            (userNamespace, pidNamespace, networkNamespace) = (nil, nil, nil)
            return
        }
        userNamespace = views.contains { $0.userMap == view.userMap } ? own.link("ns/user").value : nil
        pidNamespace = views.contains { $0.pidDepth == view.pidDepth } ? own.link("ns/pid").value : nil
        let isHostNetwork = view.network != nil && views.contains { $0.network == view.network }
        networkNamespace = isHostNetwork ? own.link("ns/net").value : nil
    }

    /// Whether there is a reference. Without one, no process counts as outside of a sandbox.
    package var isKnown: Bool { !views.isEmpty }

    /// - Returns: the comparison, with the mount's id; `nil` after chroot(2).
    func rootMount(of process: borrowing ProcessFolder) -> (HostComparison, id: UInt64?) {
        guard isKnown, case .value(let root) = ProcessView.rootMount(of: process) else { return (.unreadable, nil) }
        return (views.contains { $0.rootMount == root } ? .same : .other, root)
    }

    func userNamespace(of process: borrowing ProcessFolder) -> HostComparison {
        compare(process.link("ns/user"), with: userNamespace) {
            guard case .value(let map) = ProcessView.userMap(of: process) else { return nil }
            return views.contains { $0.userMap == map }
        }
    }

    func pidNamespace(of process: borrowing ProcessFolder) -> HostComparison {
        compare(process.link("ns/pid"), with: pidNamespace) {
            guard case .value(let depth) = ProcessView.pidDepth(of: process) else { return nil }
            return views.contains { $0.pidDepth == depth }
        }
    }

    func networkNamespace(of process: borrowing ProcessFolder) -> HostComparison {
        compare(process.link("ns/net"), with: networkNamespace) {
            guard let network = ProcessView.network(of: process) else { return nil }
            return views.contains { $0.network == network }
        }
    }

    /// Compares the link if it is readable and the expected value is known, otherwise files that are readable for every process.
    private func compare(
        _ link: ProcessReading<String>, with own: String?, otherwise: () -> Bool?
    ) -> HostComparison {
        guard isKnown else { return .unreadable }
        switch link {
        case .value(let link) where own != nil: return link == own ? .same : .other
        case .gone: return .unreadable
        case .value, .denied: return otherwise().map { $0 ? .same : .other } ?? .unreadable
        }
    }
}

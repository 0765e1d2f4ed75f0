/// How hard it is for another program of the same user to impersonate a caller; strongest first.
package enum CallerTier: String, Codable, Sendable, Comparable, CaseIterable {
    /// Inside a Flatpak, a snap, a container or any other sandbox.
    case sandboxed
    /// Confined by AppArmor or SELinux.
    case confined
    /// A system service, or a program that only root can change.
    case systemInstalled
    /// Any other process of the user, seen to be outside sandboxes.
    case unknown
    /// A process that could not be identified: it has the fewest rights.
    case unidentified

    package static func < (left: CallerTier, right: CallerTier) -> Bool { left.strength < right.strength }

    private var strength: Int {
        switch self {
        case .sandboxed: 4
        case .confined: 3
        case .systemInstalled: 2
        case .unknown: 1
        case .unidentified: 0
        }
    }
}

/// The broker's name for a caller, in grants, lists and errors: a sandbox's id, a label, a unit or a path.
package struct CallerIdentity: Codable, Sendable, Hashable {
    package var tier: CallerTier
    package var id: String

    package init(tier: CallerTier, id: String) {
        self.tier = tier
        self.id = id
    }
}

/// The facts on which a caller was judged, by name, as they were used: for people who want to know the reason.
package typealias CallerFacts = [String: String]

extension CallerIdentity {
    /// Whether the same caller can be recognised later. A process id is reused.
    package var isLasting: Bool {
        tier != .unidentified && !id.hasPrefix("pid ") && !id.hasPrefix(Self.unnamedSandbox + "pid ")
    }

    /// Whether it is a sandbox without a confirmed name: it is named after its cgroup, which others may share.
    package var isUnnamedSandbox: Bool { tier == .sandboxed && id.hasPrefix(Self.unnamedSandbox) }

    /// The prefix of the names of such sandboxes.
    package static let unnamedSandbox = "container:"
}

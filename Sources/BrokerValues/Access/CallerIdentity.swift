/// How hard it is for another program of the same person to pass for a caller; strongest first.
package enum CallerTier: String, Codable, Sendable, Comparable, CaseIterable {
    /// Inside of a Flatpak, a snap, a container or any other sandbox.
    case sandboxed
    /// AppArmor or SELinux confines it.
    case confined
    /// A system service, or a program that only root can change.
    case systemInstalled
    /// Any other process of the person, seen to be outside of sandboxes.
    case unknown
    /// Nobody can tell where it is: it has the fewest rights.
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

/// What the broker calls a caller, in grants, lists and errors: a sandbox's id, a label, a unit or a path.
package struct CallerIdentity: Codable, Sendable, Hashable {
    package var tier: CallerTier
    package var id: String

    package init(tier: CallerTier, id: String) {
        self.tier = tier
        self.id = id
    }
}

/// The facts a caller was judged by, by name, as they were used: for people who want to know why.
package typealias CallerFacts = [String: String]

extension CallerIdentity {
    /// Whether the same caller can be told again later. A process number is somebody else's tomorrow.
    package var isLasting: Bool {
        tier != .unidentified && !id.hasPrefix("pid ") && !id.hasPrefix(Self.unnamedSandbox + "pid ")
    }

    /// Whether it is a sandbox that nobody vouches for: it is called after its cgroup, which others may share.
    package var isUnnamedSandbox: Bool { tier == .sandboxed && id.hasPrefix(Self.unnamedSandbox) }

    /// What the names of such sandboxes begin with.
    package static let unnamedSandbox = "container:"
}

import BrokerModel
import BrokerValues

/// Who is calling, as far as it can be told, and what that is worth.
package struct Caller: Sendable, Equatable {
    /// How hard it is for another program of the same person to pass for this one; strongest first.
    package enum Tier: Int, Sendable, Comparable, CaseIterable {
        /// Flatpak or snap: the sandbox's name cannot be chosen by the process.
        case sandboxed
        /// AppArmor or SELinux confines it.
        case confined
        /// A system unit, or a program that only root can change.
        case systemInstalled
        /// Any other process of the person.
        case unknown

        package static func < (left: Tier, right: Tier) -> Bool { left.rawValue > right.rawValue }
    }

    package let partition: Partition
    package let tier: Tier
    /// For people and logs: a sandbox id, a label, a unit or a path.
    package let id: String
    package let facts: PeerFacts

    init(_ facts: PeerFacts) {
        self.facts = facts
        partition = Partition(uid: facts.uid)
        if let sandbox = facts.sandboxID {
            (tier, id) = (.sandboxed, sandbox)
        } else if let label = facts.securityLabel, label != "unconfined" {
            (tier, id) = (.confined, label)
        } else if let unit = facts.unit, facts.unitIsSystem {
            (tier, id) = (.systemInstalled, unit)
        } else if let executable = facts.executable {
            (tier, id) = (facts.executableIsRootOwned ? .systemInstalled : .unknown, executable)
        } else {
            (tier, id) = (.unknown, "pid \(facts.pid)")
        }
    }

    /// Whether an app's own list of callers names this one; an app without lists takes every caller of its person.
    func isListed(by app: AppRegistration) -> Bool {
        if app.executables.isEmpty && app.units.isEmpty && app.sandboxIDs.isEmpty { return true }
        // A sandboxed process sees a root of its own: its path says nothing about programs outside.
        if let sandbox = facts.sandboxID { return app.sandboxIDs.contains(sandbox) }
        return facts.executable.map(app.executables.contains) ?? false || facts.unit.map(app.units.contains) ?? false
    }
}

import BrokerModel
import BrokerValues

/// Who is calling, as far as it can be told, and what that is worth. A class, so that handing it on costs one reference.
package final class Caller: Sendable, Equatable {
    package let partition: Partition
    package let identity: CallerIdentity
    /// Whether it was proved to be outside of every sandbox: what administration asks for.
    package let isOutside: Bool
    package let facts: PeerFacts

    package init(_ facts: PeerFacts) {
        self.facts = facts
        partition = Partition(uid: facts.uid)
        let verdict = CallerVerdict(facts)
        identity = CallerIdentity(tier: verdict.tier, id: verdict.id)
        isOutside = verdict.isOutside
    }

    /// Who speaks when another process writes on this caller's connection: never more than either of the two may.
    package func handingOn(to writer: PeerFacts) -> Caller {
        switch tier {
        // What it may not do, nobody may do for it.
        case .sandboxed, .confined, .unidentified: return Caller(facts.handedOn)
        case .systemInstalled, .unknown: return Caller(writer.handedOn)
        }
    }

    /// All else follows from them.
    package static func == (left: Caller, right: Caller) -> Bool { left.facts == right.facts }

    package var tier: CallerTier { identity.tier }
    /// For people and logs: a sandbox id, a label, a unit or a path.
    package var id: String { identity.id }

    /// Whether it may do what concerns more than one app, registrations included.
    package var mayAdminister: Bool { isOutside && !facts.lacksAdminProof }

    /// Whether it came by a sandbox's own socket, and that one is not for this.
    func lacks(_ right: SandboxRight) -> Bool { facts.sandbox.map { !$0.rights.contains(right) } ?? false }

    /// The only apps that it may name; nil where nothing limits it.
    package var nameableApps: [String]? { facts.sandbox?.apps }

    /// With whom it shares places, which it gives back.
    package var claimant: Claimant {
        switch tier {
        case .unidentified: .unidentified
        case .sandboxed:
            sandboxID.map(Claimant.sandbox) ?? .unnamedSandbox(unit: facts.cgroup?.unitPath ?? "")
        case .confined, .systemInstalled, .unknown: .process(pid: facts.pid)
        }
    }

    /// With whom it shares what is used up, and so outlives its process.
    package var spender: Claimant {
        guard case .process = claimant else { return claimant }
        return .program(identity.isLasting ? identity : CallerIdentity(tier: tier, id: ""))
    }

    /// A name that somebody outside of the sandbox vouches for.
    var sandboxID: String? { facts.ownSandbox?.name ?? facts.confirmedName }

    var unit: String? { facts.systemUnit ?? facts.cgroup?.userUnit }
}

extension PeerFacts {
    fileprivate var handedOn: PeerFacts {
        var facts = self
        facts.isHandedOn = true
        return facts
    }

    /// The system service that the process is part of: it runs as the service's own account, and not just in its cgroup.
    var systemUnit: String? { systemServiceUID == uid ? cgroup?.systemService : nil }

    /// A sandbox's name that was confirmed from outside of it.
    var confirmedName: String? {
        if case .snap(let name) = LabelVerdict(label) { return name }
        return flatpakID
    }

    /// The sandbox by whose socket it came, unless it is known to be in another one, which reached into its folder.
    var ownSandbox: Sandbox? {
        guard let sandbox else { return nil }
        guard let name = confirmedName, name != sandbox.id else { return sandbox }
        return nil
    }
}

/// The tier that follows from the facts. Pure; the first row that fits counts, and whatever lifts a caller needs facts that
/// were read.
private struct CallerVerdict {
    var tier: CallerTier
    var id: String
    var isOutside = false

    init(_ facts: PeerFacts) {
        self.init(processOf: facts)
        if facts.isHandedOn {
            isOutside = false
            // A program that comes with the system is trusted for what it does itself.
            if tier == .systemInstalled { tier = .unknown }
        }
        guard facts.sandbox != nil else { return }
        // Who came by a sandbox's socket is inside, wherever it runs: behind a relay, on another machine, or gone by now.
        isOutside = false
        if let own = facts.ownSandbox { (tier, id) = (.sandboxed, own.name) }
    }

    private init(processOf facts: PeerFacts) {
        let label = LabelVerdict(facts.label)
        let process = "pid \(facts.pid)"
        let places = [facts.rootMount, facts.userNamespace, facts.pidNamespace]
        let isAtHome = places.allSatisfy { $0 == .same }
        switch label {
        case .snap(let name): (tier, id) = (.sandboxed, name)
        case .unreadable: (tier, id) = (.unidentified, process)
        case .container(let text): (tier, id) = (.sandboxed, CallerIdentity.unnamedSandbox + text)
        case _ where !facts.isPinned: (tier, id) = (.unidentified, process)
        case .unconfined, .confined:
            if let unit = facts.systemUnit, facts.userNamespace == .same, facts.pidNamespace == .same {
                (tier, id, isOutside) = (.systemInstalled, unit, isAtHome)
            } else if places.contains(.other) {
                let place = facts.cgroup?.place(of: facts.uid) ?? process
                (tier, id) = (.sandboxed, facts.flatpakID ?? CallerIdentity.unnamedSandbox + place)
            } else if places.contains(.unreadable) {
                (tier, id) = (.unidentified, process)
            } else if let cgroup = facts.cgroup {
                if let name = cgroup.sandboxName {
                    (tier, id) = (.unknown, "cgroup:\(name)")
                } else if case .confined(let text) = label {
                    (tier, id) = (.confined, text)
                } else {
                    tier = facts.executableIsRootOwned ? .systemInstalled : .unknown
                    (id, isOutside) = (facts.executable ?? process, true)
                }
            } else {
                (tier, id) = (.unidentified, process)
            }
        }
    }
}

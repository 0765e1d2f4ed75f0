import BrokerModel
import BrokerValues

/// The calling program, as far as it is known, and the trust in it. It is a class so that it is cheap to pass on.
package final class Caller: Sendable, Equatable {
    package let partition: Partition
    package let identity: CallerIdentity
    /// Whether it is proved to be outside of every sandbox, as administration requires.
    package let isOutside: Bool
    package let facts: PeerFacts
    /// The other process of a connection that was handed on: an action must be allowed to both.
    let partner: Caller?
    /// The program that had `brokerctl` ask.
    private let starter: Caller?

    /// - Parameter starter: the program that started it, if it is `brokerctl` (``PeerFacts/isFront``).
    package convenience init(_ facts: PeerFacts, startedBy starter: PeerFacts? = nil) {
        self.init(facts, partner: nil, starter: facts.isFront ? Caller(facts.asFront(of: starter)) : nil)
    }

    package convenience init(_ look: PeerSnapshot) { self.init(look.peer, startedBy: look.starter) }

    private init(_ facts: PeerFacts, partner: Caller?, starter: Caller?) {
        (self.facts, self.partner, self.starter) = (facts, partner, starter)
        partition = Partition(uid: facts.uid)
        let verdict = CallerVerdict(facts)
        identity = CallerIdentity(tier: verdict.tier, id: verdict.id)
        isOutside = verdict.isOutside
    }

    /// The caller when another process writes on this caller's connection: the less trusted of the two, with only the rights that
    /// both have.
    package func handingOn(to writer: PeerFacts) -> Caller {
        let writer = Caller(writer)
        let (speaker, other) =
            switch tier {
            case .sandboxed, .confined, .unidentified: (self, writer)
            case .systemInstalled, .unknown: (writer, self)
            }
        return Caller(speaker.facts.handedOn, partner: Caller(other.forApps.facts.handedOn), starter: nil)
    }

    /// The caller that counts for apps and their tokens. `brokerctl` asks for the program that started it, as it passes on
    /// everything that it gets.
    package var forApps: Caller { starter ?? self }

    /// Whether it could lose rights by entering a sandbox: it is in none.
    package var mayMove: Bool {
        switch tier {
        case .sandboxed, .unidentified: false
        case .confined, .systemInstalled, .unknown: true
        }
    }

    /// Compares the facts; all other members follow from them.
    package static func == (left: Caller, right: Caller) -> Bool {
        left.facts == right.facts && left.partner == right.partner && left.starter == right.starter
    }

    /// The facts that it was judged by, as text.
    package var described: CallerFacts {
        var described = facts.described
        described["startedBy"] = starter.map { "\($0.tier.rawValue) \($0.id)" }
        described["handedOnWith"] = partner.map { "\($0.tier.rawValue) \($0.id)" }
        return described
    }

    package var tier: CallerTier { identity.tier }
    /// The name for people and logs: a sandbox's name, a label, a unit or a path.
    package var id: String { identity.id }

    /// Whether it may make requests about more than one app, registrations included.
    package var mayAdminister: Bool { isOutside && !facts.lacksAdminProof }

    /// Whether it came by a sandbox's own socket that lacks the right.
    func lacks(_ right: SandboxRight) -> Bool { facts.sandbox.map { !$0.rights.contains(right) } ?? false }

    /// The only apps that it may name; `nil` if nothing limits it.
    package var nameableApps: [String]? { facts.sandbox?.apps }

    /// Its name if it is on another machine: pages for the person are opened here.
    package var elsewhere: String? { facts.ownSandbox.flatMap { $0.isElsewhere ? $0.name : nil } }

    /// How the person gives the caller a right, as part of a sentence.
    func giving(_ right: SandboxRight) -> String {
        elsewhere == nil
            ? "give it with brokerctl sandboxes add --right \(right.rawValue), or run-in --right"
            : "log in again with brokerctl ssh --right \(right.rawValue)"
    }

    /// The owner of slots, which are released later.
    package var claimant: QuotaOwner {
        switch tier {
        case .unidentified: .unidentified
        case .sandboxed:
            sandboxID.map(QuotaOwner.sandbox) ?? .unnamedSandbox(unit: facts.cgroup?.unitPath ?? "")
        case .confined, .systemInstalled, .unknown: .process(pid: facts.pid)
        }
    }

    /// The owner of consumed quota, which outlives the process. `brokerctl` consumes the quota of the program that started it.
    package var spender: QuotaOwner {
        if let starter { return starter.spender }
        guard case .process = claimant else { return claimant }
        return .program(identity.isLasting ? identity : CallerIdentity(tier: tier, id: ""))
    }

    /// The sandbox's name, if it was confirmed from outside of the sandbox.
    var sandboxID: String? { facts.ownSandbox?.name ?? facts.confirmedName }

    /// The sandbox that separates its own client ids from others (``AppRegistration/sandbox``).
    var clientSpace: String {
        guard facts.ownSandbox == nil else { return id }
        if case .snap(let label) = LabelVerdict(facts.label) { return label }
        // Earlier versions kept the clients of a Flatpak under its application id.
        return facts.attestedName == id ? CallerName.untyped(id) ?? id : id
    }
}

extension PeerFacts {
    fileprivate var handedOn: PeerFacts {
        var facts = self
        facts.isHandedOn = true
        return facts
    }

    /// Whether it is our own `brokerctl`, as installed by root.
    package var isFront: Bool {
        sandbox == nil && executableIsRootOwned && executable?.hasSuffix("/brokerctl") == true
    }

    /// The facts of the program that `brokerctl`, to which these facts belong, asks for. Its unit is that of `brokerctl`: a
    /// manager that starts a unit is in none.
    ///
    /// - Parameter starter: `nil` if unknown: then `brokerctl` is treated like any program.
    fileprivate func asFront(of starter: PeerFacts?) -> PeerFacts {
        var facts = starter ?? self
        facts.front = executable
        (facts.cgroup, facts.systemServiceUID) = (cgroup, systemServiceUID)
        // A system program that runs other users' code, and one that took its place, look alike.
        facts.executableIsRootOwned = false
        return facts
    }

    /// The system service that the process is part of: it runs as the service's own account, and not just in its cgroup.
    var systemUnit: String? { systemServiceUID == uid ? cgroup?.systemService : nil }

    /// The names of the process's unit in lists, its typed name first. A name without a type means a unit of the manager that runs
    /// the broker.
    var unitNames: [String] {
        if let unit = systemUnit {
            return Self.names(of: unit, typed: CallerName.system(unit: unit), isOfOurManager: isServedWithOthers)
        }
        guard !isServedWithOthers, let unit = cgroup?.userUnit else { return [] }
        return Self.names(of: unit, typed: CallerName.user(unit: unit), isOfOurManager: true)
    }

    private static func names(of unit: String, typed: String, isOfOurManager: Bool) -> [String] {
        isOfOurManager && !CallerName.looksTyped(unit: unit) ? [typed, unit] : [typed]
    }

    /// A sandbox's name that was confirmed from outside of it.
    var confirmedName: String? {
        if case .snap(let label) = LabelVerdict(label) { return CallerName.snap(label: label) }
        return attestedName
    }

    /// The sandbox whose socket it uses, unless it is known to be in another sandbox, which reached into the folder of the socket.
    var ownSandbox: Sandbox? {
        guard let sandbox else { return nil }
        guard let confirmedName, confirmedName != sandbox.name else { return sandbox }
        return nil
    }
}

extension BrokerError {
    /// `accessDenied`, with the caller and the app that it named.
    package static func denied(
        _ caller: Caller, as app: AppRegistration? = nil, _ message: String, _ reason: ErrorReason = .callerNotListed
    ) -> BrokerError {
        BrokerError(.accessDenied, message, reason: reason) {
            $0.app = app?.grantName
            $0.caller = caller.id
        }
    }
}

/// The tier that follows from the facts. Pure; the first matching row counts, and only facts that were read raise a caller's tier.
private struct CallerVerdict {
    var tier: CallerTier
    var id: String
    var isOutside = false

    init(_ facts: PeerFacts) {
        self.init(processOf: facts)
        if facts.isHandedOn {
            isOutside = false
            // A program that comes with the system is trusted for its own actions.
            if tier == .systemInstalled { tier = .unknown }
        }
        guard facts.sandbox != nil else { return }
        // A caller that came by a sandbox's socket is inside, wherever it runs: behind a relay, on another machine, or gone by now.
        isOutside = false
        if let own = facts.ownSandbox { (tier, id) = (.sandboxed, own.name) }
    }

    private init(processOf facts: PeerFacts) {
        let label = LabelVerdict(facts.label)
        let process = "pid \(facts.pid)"
        let places = facts.places
        let isAtHome = places.allSatisfy { $0 == .same }
        switch label {
        case .snap: (tier, id) = (.sandboxed, facts.confirmedName ?? process)
        case .unreadable: (tier, id) = (.unidentified, process)
        case .container(let text): (tier, id) = (.sandboxed, CallerIdentity.unnamedSandbox + text)
        case _ where !facts.isPinned: (tier, id) = (.unidentified, process)
        case .unconfined, .confined:
            if let unit = facts.systemUnit, facts.userNamespace == .same, facts.pidNamespace == .same {
                (tier, id, isOutside) = (.systemInstalled, CallerName.system(unit: unit), isAtHome)
            } else if places.contains(.other) {
                let place = facts.cgroup?.place(of: facts.uid) ?? process
                (tier, id) = (.sandboxed, facts.confirmedName ?? CallerIdentity.unnamedSandbox + place)
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

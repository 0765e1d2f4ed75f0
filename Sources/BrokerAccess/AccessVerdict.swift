import BrokerModel
import BrokerValues

/// What becomes of a caller that wants to act as an app. Pure.
enum AccessVerdict: Equatable {
    case allowed
    /// As far as a person agreed.
    /// - asks: whether a person is asked for what is missing.
    case byGrant(asks: Bool)
    case refused

    init(on caller: Caller, as app: AppRegistration, by tiers: TierRules) {
        self.init(on: caller, as: app, by: tiers[caller.tier])
        guard let partner = caller.partner else { return }
        switch AccessVerdict(on: partner, as: app, by: tiers[partner.tier]) {
        case .allowed: break
        // What was granted to one of the two is not the other's, unless they are one caller.
        case .byGrant(let asks) where partner.identity == caller.identity:
            if self == .allowed { self = .byGrant(asks: asks) }
        case .byGrant, .refused: self = .refused
        }
    }

    private init(on caller: Caller, as app: AppRegistration, by rule: TierRule) {
        if !app.isAdHoc, caller.isListed(by: app) {
            self = .allowed
            return
        }
        switch rule {
        case .deny: self = .refused
        case .ask: self = caller.identity.isLasting ? .byGrant(asks: true) : .refused
        case .allow where app.isAdHoc && caller.tier == .sandboxed:
            // A client of its own choosing brings a sandbox the network, and a window to the person.
            self = caller.identity.isLasting ? .byGrant(asks: true) : .refused
        case .allow: self = app.listsCallers ? .byGrant(asks: false) : .allowed
        }
    }
}

extension Caller {
    /// Whether an app's own list of callers names this one.
    fileprivate func isListed(by registration: AppRegistration) -> Bool {
        if facts.ownSandbox != nil, let binding = facts.sandboxApps[registration.name],
            binding == nil || binding == registration.grantBinding
        {
            return true
        }
        switch tier {
        case .unidentified: return false
        // A sandboxed process sees a root of its own: its path says nothing about programs outside.
        case .sandboxed: return sandboxID.map(registration.lists(sandbox:)) ?? false
        case .confined, .systemInstalled, .unknown: break
        }
        // Whoever may run a program that is listed by itself may use the app.
        return registration.lists(executable: facts.front, unitNames: [])
            || registration.lists(executable: facts.executable, unitNames: facts.unitNames)
    }
}

import BrokerModel
import BrokerValues

/// The decision on a caller that wants to act as an app. Pure.
enum AccessVerdict: Equatable {
    case allowed
    /// Limited to what a person granted.
    /// - asks: whether a person is asked for what is missing.
    case byGrant(asks: Bool)
    case refused

    init(on caller: Caller, as app: AppRegistration, by tiers: TierRules) {
        self.init(on: caller, as: app, by: tiers[caller.tier])
        guard let partner = caller.partner else { return }
        switch AccessVerdict(on: partner, as: app, by: tiers[partner.tier]) {
        case .allowed: break
        // A grant to one of the two processes does not apply to the other, unless they are one caller.
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
            // A client of its own choosing gives a sandbox network access and a window in front of the person.
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
        // Every process that may run a program listed by itself may use the app.
        return registration.lists(executable: facts.front, unitNames: [])
            || registration.lists(executable: facts.executable, unitNames: facts.unitNames)
    }
}

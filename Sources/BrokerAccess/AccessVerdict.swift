import BrokerModel
import BrokerValues

/// What callers of a tier may do with an app that does not list them (`access.sandboxed` and so on).
package enum TierRule: String, Sendable, CaseIterable {
    /// Use apps that list nobody.
    case allow
    /// Use what a person agreed to; the person is asked for the rest.
    case ask
    /// Nothing, whatever a person agreed to.
    case deny
}

/// The rule of each tier.
package struct TierRules: Sendable, Equatable {
    package var sandboxed = TierRule.ask
    package var confined = TierRule.ask
    package var systemInstalled = TierRule.allow
    package var unknown = TierRule.allow

    package init() {}

    subscript(tier: CallerTier) -> TierRule {
        switch tier {
        case .sandboxed: sandboxed
        case .confined: confined
        case .systemInstalled: systemInstalled
        case .unknown: unknown
        // Whoever answered a question would not know for whom.
        case .unidentified: .deny
        }
    }
}

/// What becomes of a caller that wants to act as an app. Pure.
enum AccessVerdict: Equatable {
    case allowed
    /// As far as a person agreed.
    /// - asks: whether a person is asked for what is missing.
    case byGrant(asks: Bool)
    case refused

    init(on caller: Caller, as app: AppRegistration, by rule: TierRule) {
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

extension AppRegistration {
    /// Whether its registration says who may use it.
    var listsCallers: Bool {
        !(description.executables.isEmpty && description.units.isEmpty && description.sandboxIDs.isEmpty)
    }
}

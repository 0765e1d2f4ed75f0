import BrokerModel
import BrokerValues

/// The registered apps that one caller may use, ordered by name: for a protocol that lists apps, or that names an app by something
/// other than its name.
package struct UsableApps: Sendable {
    /// Usable without a question to the person, or by a grant.
    package var allowed: [AppRegistration] = []
    /// Usable after a question to the person.
    package var askable: [AppRegistration] = []
}

extension AccessPolicy {
    /// Whether there is an app of this name, for any caller.
    package func isRegistered(_ name: String, for caller: Caller) -> Bool {
        (try? directory.registered(name, in: caller.forApps.partition)) != nil
    }

    /// The apps that a caller may use. It admits no request and asks no one: using one of the apps still takes ``admit(_:_:)``.
    ///
    /// - Throws: `locked`, even if the registrations are in memory; `internal` if they cannot be read.
    package func usableApps(by caller: Caller) throws(BrokerError) -> UsableApps {
        try requireUnlocked()
        let caller = caller.forApps
        let tiers = settings.tiers
        var usable = UsableApps()
        for app in try directory.list(in: caller.partition) {
            guard caller.nameableApps?.contains(app.name) ?? true else { continue }
            switch AccessVerdict(on: caller, as: app, by: tiers) {
            case .allowed: usable.allowed.append(app)
            case .byGrant where grants.hasAny(of: caller, as: app): usable.allowed.append(app)
            case .byGrant(asks: true): usable.askable.append(app)
            case .byGrant(asks: false), .refused: break
            }
        }
        return usable
    }
}

import BrokerModel
import BrokerValues

/// The registered apps as one caller stands to them, by name: for a protocol that asks which there are, or names an app by
/// something else than its name.
package struct UsableApps: Sendable {
    /// Without anybody being asked, or by what a person agreed to.
    package var allowed: [AppRegistration] = []
    /// A person would be asked first.
    package var askable: [AppRegistration] = []
}

extension AccessPolicy {
    /// Whether there is an app of this name, whoever may use it.
    package func isRegistered(_ name: String, for caller: Caller) -> Bool {
        do throws(BrokerError) {
            _ = try directory.registered(name, in: caller.forApps.partition)
            return true
        } catch { return false }
    }

    /// Lets nobody in, and asks nobody: whoever goes on with one of the apps comes by ``admit(_:_:)``.
    ///
    /// - Throws: `locked`, also where memory still has the registrations; `internal` when they cannot be read.
    package func usableApps(by caller: Caller) throws(BrokerError) -> UsableApps {
        guard gate.isOpen else { throw .locked }
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

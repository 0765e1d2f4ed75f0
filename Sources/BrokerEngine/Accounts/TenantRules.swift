import BrokerModel
import BrokerValues

/// Which tenant a request is for, and where its tokens come from (MSAL, "Override per request"). Pure.
package enum TenantRules {
    /// What tokens for a request are filed under.
    ///
    /// - Parameters:
    ///   - target: the authority of the request.
    ///   - entry: the account it is for.
    ///   - known: the group's accounts: a tenant named by a domain is found there by its id.
    package static func realm(
        at target: Authority, for entry: KnownAccounts.Entry, among known: KnownAccounts
    ) -> String {
        switch target.tenant {
        case nil: return target.path
        case .common, .organizations, .consumers: return entry.homeTenant ?? entry.stored.record.realm
        case .id(let tenant): return tenant
        case .domain(let name):
            let profile = known.profiles(of: entry.stored.record).first {
                $0.stored.record.domainNames?.contains(name) == true
            }
            return profile?.stored.record.realm ?? name
        }
    }

    /// Where a silent request goes: an authority that many tenants share means the account's home tenant, and the cloud is
    /// always the account's own.
    package static func destination(of target: Authority, for entry: KnownAccounts.Entry) -> Authority {
        let target = target.cloud(entry.stored.record.environment)
        guard let tenant = target.tenant, tenant.isShared else { return target }
        return target.tenant(entry.homeTenant ?? entry.stored.record.realm)
    }

    /// An app may name another tenant for one request, but at its own kind of provider and in its own cloud, or at its own
    /// host where there are no clouds: elsewhere its client id means nothing.
    ///
    /// - Parameter clouds: further ones that the app's people may be at home in (``CloudRules``).
    package static func check(
        _ other: Authority?, for app: AppRegistration, clouds: @autoclosure () -> Set<String> = []
    ) throws(BrokerError) {
        guard let other, !mayAsk(at: other, for: app, clouds: clouds()) else { return }
        let own = app.authority
        let (place, choice) = own.hasTenants ? ("cloud", "tenant") : ("host", "issuer")
        throw BrokerError(
            .invalidAuthority,
            "\(other.url) is not of the same kind and \(place) as \(app.name)'s own authority, \(own.url); name another "
                + "\(choice) of \(own.environment).")
    }

    package static func mayAsk(at other: Authority, for app: AppRegistration, clouds: Set<String> = []) -> Bool {
        let own = app.authority
        // Whoever may act as the app could else bring a provider of theirs, and its people into the app's group.
        guard own.kind == other.kind, own.environment == other.environment || clouds.contains(other.environment) else {
            return false
        }
        // A client's secret is for its own issuer: whoever may act as the app must not learn it by naming another.
        return own.rules.hasHostWideClients || app.clientSecret == nil || other == own
    }
}

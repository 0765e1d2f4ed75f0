import BrokerModel
import BrokerTokenCache
import BrokerValues

/// The tenant that a request is for, and the source of its tokens (MSAL, "Override per request"). Pure.
package enum TenantRules {
    /// The realm under which tokens for a request are filed.
    ///
    /// - Parameters:
    ///   - target: the authority of the request.
    ///   - entry: the account it is for.
    ///   - known: the group's accounts: a tenant named by a domain is found there by its id.
    package static func realm(
        at target: Authority, for entry: KnownAccount, among known: KnownAccounts
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

    /// The authority that a silent request goes to: an authority shared by many tenants means the account's home tenant, and the
    /// cloud is always the account's own.
    package static func destination(of target: Authority, for entry: KnownAccount) -> Authority {
        let target = target.cloud(entry.stored.record.environment)
        guard let tenant = target.tenant, tenant.isShared else { return target }
        return target.tenant(entry.homeTenant ?? entry.stored.record.realm)
    }

    /// Checks that an app may name an authority for one request: it must be of the same kind of provider and in the app's own
    /// cloud, or at the app's own host if there are no clouds. Elsewhere its client id means nothing.
    ///
    /// - Parameter clouds: further clouds that the app's people may be at home in (``CloudRules``).
    /// - Throws: `invalidAuthority`.
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
        // Otherwise a program that may act as the app could bring a provider of its own, and its people into the app's group.
        guard own.kind == other.kind, own.environment == other.environment || clouds.contains(other.environment) else {
            return false
        }
        // A client's secret is for its own issuer: a program that may act as the app must not learn it by naming another.
        return own.rules.hasHostWideClients || app.clientSecret == nil || other == own
    }
}

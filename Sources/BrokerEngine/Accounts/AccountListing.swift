import BrokerModel
import BrokerTokenCache
import BrokerValues

/// Implements `accounts.list` and `accounts.get`: lists the people known to an app's group or, for the person's own tools, to any
/// group.
struct AccountListing: Sendable {
    let cache: TokenCache
    let settings: SettingsBox

    func list(for app: AppRegistration?, includeSignedOut: Bool, in partition: Partition)
        throws(BrokerError) -> [Account]
    {
        let all = if let app { try visible(to: app, in: partition) } else { try everybody(in: partition) }
        return includeSignedOut ? all : all.filter(\.signedIn)
    }

    /// - Returns: `nil` if no account matches.
    /// - Throws: `ambiguousAccount` if several people have the username.
    func find(_ selector: AccountReference, for app: AppRegistration?, in partition: Partition)
        throws(BrokerError) -> Account?
    {
        try called(selector, for: app, in: partition).uniqueMatch(\.self)?.who
    }

    /// - Throws: `accountNotFound`; `ambiguousAccount` if several people have the username.
    func require(_ selector: AccountReference, for app: AppRegistration?, in partition: Partition)
        throws(BrokerError) -> Account
    {
        guard let account = try find(selector, for: app, in: partition) else { throw AccountChoice.notFound }
        return account
    }

    /// With an app, a username matches only people of the app's own provider: the same name elsewhere in the group is another
    /// person. An id means one person, at any provider that the app may ask.
    private func called(
        _ selector: AccountReference, for app: AppRegistration?, in partition: Partition
    ) throws(BrokerError) -> [Account] {
        guard let app else { return try everybody(in: partition).filter { $0.matches(selector, in: partition) } }
        let known = try cache.accounts(of: app, in: partition)
        let authorities = settings.value.authorities
        let clouds = CloudRules.clouds(of: app, isInstanceAware: true, in: authorities.clouds)
        let entries =
            if case .username = selector {
                known.people(selector, at: app.authority, otherClouds: clouds)
            } else {
                known.entries.filter { entry in
                    entry.isPrimary && entry.matches(selector)
                        && authorities.recorded(entry.stored.record.authority).map {
                            TenantRules.mayAsk(at: $0, for: app, clouds: clouds)
                        } ?? false
                }
            }
        return entries.map { $0.account(for: app, in: known) }
    }

    private func visible(to app: AppRegistration, in partition: Partition) throws(BrokerError) -> [Account] {
        try cache.accounts(of: app, in: partition).visible(to: app)
    }

    /// A person known to several groups is listed once.
    private func everybody(in partition: Partition) throws(BrokerError) -> [Account] {
        let entries = try cache.reading { () throws(VaultError) in
            try cache.index.loadEveryAccount(in: partition)
        }
        var seen: [String: Int] = [:]
        var accounts: [Account] = []
        for entry in entries where entry.isPrimary {
            let key = entry.isTenantProfile ? entry.account.id : "\(entry.account.id) \(entry.stored.record.realm)"
            if let index = seen[key] {
                accounts[index].addProfiles(of: entry.account)
                accounts[index].signedIn = accounts[index].signedIn || entry.account.signedIn
            } else {
                seen[key] = accounts.count
                accounts.append(entry.account)
            }
        }
        return accounts
    }
}

extension Account {
    /// Adds the tenant profiles that another group has of the person.
    fileprivate mutating func addProfiles(of other: Account) {
        let further = other.tenantProfiles?.filter { profile in
            tenantProfiles?.contains { $0.tenantId == profile.tenantId } != true
        }
        if let further, !further.isEmpty { tenantProfiles = (tenantProfiles ?? []) + further }
    }
}

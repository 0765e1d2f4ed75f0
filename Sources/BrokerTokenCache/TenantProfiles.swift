import BrokerModel
import BrokerValues

/// Combines the records that a person has in several tenants into one account. Pure. It runs when the records change, so that
/// requests need not.
enum TenantProfiles {
    /// - Parameter entries: of one person.
    /// - Returns: the same entries in the same order. One is primary, the home tenant's if it is known, and every entry shows the
    ///   person as the primary does, with all tenant profiles. The person is signed in if one of the records says so: a
    ///   sign-out changes all of them, and the next sign-in only that of its own tenant.
    static func merged(_ entries: [KnownAccount]) -> [KnownAccount] {
        let profiles = entries.indices.filter { entries[$0].isTenantProfile }
        guard let primary = profiles.first(where: { entries[$0].isHomeProfile }) ?? profiles.first else {
            return entries
        }
        var account = entries[primary].ownAccount
        account.tenantProfiles = ([primary] + profiles.filter { $0 != primary }).map { entries[$0].profile }
        account.signedIn = profiles.contains { entries[$0].stored.record.signedIn }
        var result = entries
        for index in profiles {
            result[index] = KnownAccount(entries[index].stored, as: account, isPrimary: index == primary)
        }
        return result
    }
}

extension KnownAccount {
    fileprivate var isHomeProfile: Bool { homeTenant == stored.record.realm }

    fileprivate var profile: TenantProfile {
        let record = stored.record
        return TenantProfile(
            tenantId: record.realm, authority: record.authority, username: record.username, name: record.name,
            isHomeTenant: isHomeProfile, claims: record.claims.isEmpty ? nil : record.claims)
    }
}

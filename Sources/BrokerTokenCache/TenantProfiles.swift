import BrokerModel
import BrokerValues

/// Combines the records that a person has in several tenants into one account. Pure. It runs when the records change, so that
/// requests need not.
enum TenantProfiles {
    /// - Returns: the same entries in the same order. One entry of each person is primary, the home tenant's if it is known, and
    ///   every entry shows the person as the primary does, with all tenant profiles. A person is signed in if one of the
    ///   records says so: a sign-out changes all of them, and the next sign-in only that of its own tenant.
    static func merged(_ entries: [KnownAccount]) -> [KnownAccount] {
        var members: [Person: [Int]] = [:]
        for (index, entry) in entries.enumerated() where entry.isTenantProfile {
            members[Person(entry), default: []].append(index)
        }
        var result = entries
        for indices in members.values {
            let primary = indices.first { entries[$0].isHomeProfile } ?? indices[0]
            let ordered = [primary] + indices.filter { $0 != primary }
            var account = entries[primary].ownAccount
            account.tenantProfiles = ordered.map { entries[$0].profile }
            account.signedIn = indices.contains { entries[$0].stored.record.signedIn }
            for index in indices {
                result[index] = KnownAccount(entries[index].stored, as: account, isPrimary: index == primary)
            }
        }
        return result
    }

    /// A person of one group.
    private struct Person: Hashable {
        let group: GroupID
        let homeAccountID: HomeAccountID
        let environment: String

        init(_ entry: KnownAccount) {
            let record = entry.stored.record
            (group, homeAccountID, environment) = (record.group, record.homeAccountID, record.environment)
        }
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

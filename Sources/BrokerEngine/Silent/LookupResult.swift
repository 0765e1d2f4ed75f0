import BrokerModel
import BrokerTokenCache
import BrokerValues

/// The result of a lookup: the account, and the decision.
struct LookupResult: Sendable {
    var request: SilentRequest
    var entry: KnownAccount
    var owner: OwnerKey
    var tokens: CachedTokens
    /// Empty for a lookup in memory only: families matter for refreshes.
    var family: FamilyKnowledge
    var question: CacheQuestion
    var decision: SilentDecision

    /// The destination of a refresh: the request's authority, or the account's home tenant, in the account's cloud.
    var destination: Authority { TenantRules.destination(of: request.target, for: entry) }

    /// Whether that is the account's own authority: its home tenant, if there are tenants.
    var isAtHome: Bool {
        guard let home = entry.homeTenant, destination.hasTenants else { return true }
        return question.realm == home
    }

    /// Refreshes that may redeem the same token take turns: with family tokens, all clients of the account.
    var refreshKey: OwnerKey { family.spendable.isEmpty ? owner : owner.ofFamilies }

    /// The refresh tokens that may be redeemed, in the order of trying.
    var spendable: [StoredRecord<RefreshTokenRecord>] { tokens.spendable(for: question.tokenType, family) }
}

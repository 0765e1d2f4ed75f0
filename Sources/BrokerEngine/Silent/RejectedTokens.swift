import BrokerModel
import BrokerTokenCache
import BrokerValues
import Synchronization

/// Limits the refreshes that are made because a resource server refused a token, to one a minute: callers that name the same token
/// again, or each new token as it is refused, do not make every request a refresh.
final class RejectedTokens: Sendable {
    /// An app, its account, and the token's resources: the next token is for the same.
    struct Use: Hashable, Sendable {
        private let owner: OwnerKey
        private let realm: String
        private let tokenType: TokenType
        private let resources: [String]
        private let scopes: Scopes

        init(_ token: AccessTokenRecord, of owner: OwnerKey) {
            self.owner = owner
            (realm, tokenType) = (token.realm, token.tokenType)
            resources = token.resources ?? []
            // Only the scopes may identify the resource.
            scopes = resources.isEmpty ? ScopeRules.toRenew(token) : Scopes([])
        }

        var group: GroupKey { owner.group }
    }

    private static let memory = Duration.seconds(60)
    static let limit = 2_048
    private let refreshes = Mutex(RateLimitedWork<Use>(limit: limit))

    /// - Parameter now: ``BrokerClock/uptime``.
    func begin(_ use: Use, at now: Duration) -> RateLimitedWork<Use>.Standing {
        refreshes.withLock { $0.begin(use, of: use.group, at: now) }
    }

    /// Records that the refresh has ended, whatever its outcome.
    func end(_ use: Use, at now: Duration) {
        refreshes.withLock { $0.end(use, restingUntil: now + Self.memory) }
    }
}

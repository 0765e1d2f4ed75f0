import BrokerModel
import BrokerValues
import Synchronization

/// Tracks refreshes made because a resource server refused a token: callers that name the same token again, or one after the other
/// as each is refused, do not make every request a refresh.
final class RejectedTokens: Sendable {
    enum Standing {
        /// The caller has to refresh it, and to report the end.
        case new
        /// A refresh is in progress, and its outcome may be shared.
        case refreshing
        /// It was refreshed for this less than a minute ago.
        case recent
    }

    /// An app, its account, and the token's resources: the next token is for the same.
    struct Use: Hashable, Sendable {
        private let owner: CacheIndex.OwnerKey
        private let realm: String
        private let tokenType: TokenType
        private let resources: [String]
        private let scopes: Scopes

        init(_ token: AccessTokenRecord, of owner: CacheIndex.OwnerKey) {
            self.owner = owner
            (realm, tokenType) = (token.realm, token.tokenType)
            resources = token.resources ?? []
            // Only the scopes may identify the resource.
            scopes = resources.isEmpty ? ScopeRules.toRenew(token) : Scopes([])
        }

        var group: CacheIndex.GroupKey { owner.group }
    }

    private static let memory = Duration.seconds(60)
    static let limit = 2_048
    private let refreshes = Mutex(RateLimitedWork<Use>(limit: limit))

    /// - Parameter now: ``BrokerClock/uptime``.
    func begin(_ use: Use, at now: Duration) -> Standing {
        switch refreshes.withLock({ $0.begin(use, of: use.group, at: now) }) {
        case .new: .new
        case .underWay: .refreshing
        // Without room nothing is forced: the next minute has some.
        case .resting, .full: .recent
        }
    }

    /// The refresh is over, whatever its outcome.
    func end(_ use: Use, at now: Duration) {
        refreshes.withLock { $0.end(use, restingUntil: now + Self.memory) }
    }
}

extension SilentAcquisition {
    /// The answer to a caller whose token was refused by a resource server: the cached token if that is another one by now, else
    /// the result of a refresh. If it is the same token again, the answer says so.
    func another(than rejected: Secret, for request: SilentRequest) async throws(BrokerError) -> AcquiredToken {
        var answer = try await renewed(rejected, for: request)
        answer.rejected = try holds(answer.token, rejected)
        return answer
    }

    private func renewed(_ rejected: Secret, for request: SilentRequest) async throws(BrokerError) -> AcquiredToken {
        let lookup = try looking.look(at: request)
        guard case .cached(let token) = lookup.decision, try holds(token, rejected) else {
            return try await acquire(request, replaces: nil)
        }
        guard !lookup.spendable.isEmpty else {
            throw nothingToSpend(for: request, .noTokens, lookup.owner).about(lookup.entry.account)
        }
        // One for a part of its scopes would be stored next to it, and the refused one would still be returned.
        let whole = SilentRequest(request, forAllOf: token.record)
        let use = RejectedTokens.Use(token.record, of: lookup.owner)
        switch services.rejected.begin(use, at: services.clock.uptime) {
        case .recent: return lookup.answer(token, services)
        case .refreshing: return try await acquire(whole, replaces: token.sealed.box, insists: false)
        case .new:
            defer { services.rejected.end(use, at: services.clock.uptime) }
            return try await acquire(whole, replaces: token.sealed.box)
        }
    }

    func holds(
        _ token: StoredRecord<AccessTokenRecord>, _ rejected: Secret
    ) throws(BrokerError) -> Bool {
        try services.reading { () throws(VaultError) in try services.vault.secret(of: token.sealed) } == rejected
    }
}

import BrokerModel
import BrokerValues
import Synchronization

/// What resource servers refused tokens of, and when those were refreshed for it: callers who name the same token again, or one after the
/// other as each is refused, do not make every request a refresh.
final class RejectedTokens: Sendable {
    enum Standing {
        /// It is the caller's to refresh, and to say when that is over.
        case new
        /// Somebody refreshes it at this moment, and the outcome may be shared.
        case refreshing
        /// It was refreshed for this less than a minute ago.
        case recent
    }

    /// An app, its account, and where the token is good: the next token is for the same.
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
            // Which resource that is may be in the scopes only.
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

    /// The refresh is over, whatever came of it.
    func end(_ use: Use, at now: Duration) {
        refreshes.withLock { $0.end(use, restingUntil: now + Self.memory) }
    }
}

extension SilentAcquisition {
    /// The answer to a caller whose resource server refused a token: what the cache has, if that is another one by now; else
    /// what a refresh brings. An answer that is the same token again says so.
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
        // One for a part of its scopes would stand beside it, and the refused one would be given on.
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

import BrokerModel
import BrokerValues

extension SilentAcquisition {
    /// The answer to a caller whose token was refused by a resource server: the cached token if that is another one by now, else
    /// the result of a refresh. If it is the same token again, the answer says so.
    func another(than rejected: Secret, for request: SilentRequest) async throws(BrokerError) -> AcquiredToken {
        var answer = try await renewed(rejected, for: request)
        answer.rejected = try holds(answer.token, rejected)
        return answer
    }

    private func renewed(_ rejected: Secret, for request: SilentRequest) async throws(BrokerError) -> AcquiredToken {
        let lookup = try lookups.look(at: request)
        guard case .cached(let token) = lookup.decision, try holds(token, rejected) else {
            return try await acquire(request, replaces: nil)
        }
        guard !lookup.spendable.isEmpty else {
            throw missing.error(for: request, .noTokens, lookup.owner).about(lookup.entry.account)
        }
        // One for a part of its scopes would be stored next to it, and the refused one would still be returned.
        let whole = SilentRequest(request, forAllOf: token.record)
        let use = RejectedTokens.Use(token.record, of: lookup.owner)
        switch rejectedTokens.begin(use, at: clock.uptime) {
        // Without room nothing is forced: the next minute has some.
        case .resting, .full: return lookups.answer(token, from: lookup)
        case .underWay: return try await acquire(whole, replaces: token.sealed.box, insists: false)
        case .new:
            defer { rejectedTokens.end(use, at: clock.uptime) }
            return try await acquire(whole, replaces: token.sealed.box)
        }
    }

    func holds(
        _ token: StoredRecord<AccessTokenRecord>, _ rejected: Secret
    ) throws(BrokerError) -> Bool {
        try cache.secret(of: token.sealed) == rejected
    }
}

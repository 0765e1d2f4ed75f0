import BrokerModel
import BrokerValues

/// Answers silent requests from memory: the hot path. Safe on an event loop. A token that is due for renewal is still returned,
/// and renewed meanwhile.
package final class CachedAnswers: Sendable {
    private let lookups: CacheLookup
    private let renewals: TokenRenewals

    init(lookups: CacheLookup, renewals: TokenRenewals) { (self.lookups, self.renewals) = (lookups, renewals) }

    /// Without waiting and without the disk; `nil` if that is not enough, or if the answer would be an error.
    package func cached(_ request: SilentRequest) -> AcquiredToken? {
        guard request.rejectedToken == nil, request.stepUp == nil,
            let lookup = try? lookups.look(at: request, in: .memory), case .cached(let token) = lookup.decision
        else { return nil }
        renewals.beginIfDue(token, from: lookup)
        return lookups.answer(token, from: lookup)
    }
}

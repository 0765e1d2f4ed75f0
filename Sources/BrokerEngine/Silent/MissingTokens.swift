import BrokerModel
import BrokerTokenCache
import BrokerValues

/// Makes the error for a request that only a sign-in can answer, because there is no token to redeem.
struct MissingTokens: Sendable {
    let throttle: ThrottleBox
    let clients: ClientKnowledge
    let clock: any BrokerClock

    /// - Returns: the error of the token that ended, if that is still known; otherwise one with the given reason.
    func error(for request: SilentRequest, _ reason: ErrorReason, _ owner: OwnerKey) -> BrokerError {
        let now = clock.uptime
        if let ending = throttle.with({ $0.ending(of: .init(request, of: owner), at: now) }) { return ending }
        // The sign-in brought no refresh token: the next one asks for it as the provider wants it.
        if reason == .noTokens, (try? clients.refreshTokenTakesConsent(owner.client)) == true {
            return request.interactionRequired(.consentRequired)
        }
        return request.interactionRequired(reason)
    }
}

extension SilentRequest {
    func interactionRequired(_ reason: ErrorReason) -> BrokerError {
        let sentence =
            switch reason {
            case .consentRequired:
                "The provider keeps \(app.name) signed in only with the person's consent; sign in again to give it."
            case .idTokenExpired:
                "The ID token of \(app.name) has ended, and the provider gives another only at a sign-in; sign in again."
            default: "There is no saved sign-in for \(app.name) here; sign in first."
            }
        return BrokerError(.interactionRequired, sentence, reason: reason)
    }
}

extension BrokerError {
    /// Names the account to the app, which may have omitted it.
    func about(_ account: Account) -> BrokerError {
        guard kind == .interactionRequired, details.accounts == nil else { return self }
        var copy = self
        copy.details.accounts = [reason == .signedOut ? account.afterSignOut : account]
        return copy
    }
}

import BrokerModel
import BrokerValues

/// What a provider's refusal of a refresh token means: for the caller, and for the token. Pure.
package struct RefreshRefusal: Sendable {
    package var error: BrokerError
    /// The token that was sent will never work again.
    package var tokenIsDead: Bool

    /// - Parameters:
    ///   - grantedScopes: what the refresh token was granted for, as far as is known.
    package init(
        _ refusal: OAuthRefusal, asked scopes: Scopes, grantedScopes: Scopes, sentClaims: Bool, at place: String
    ) {
        func interaction(_ reason: ErrorReason, _ message: String) -> BrokerError {
            BrokerError(.interactionRequired, message, reason: reason, cause: ProviderError.refused(refusal)) {
                $0.add(refusal)
            }
        }
        tokenIsDead = false
        switch refusal.error {
        case "invalid_grant":
            tokenIsDead = true
            error = interaction(
                .refreshTokenRevoked, "\(place) does not accept the saved sign-in any more; sign in again.")
        case "invalid_scope" where scopes.isSubset(of: grantedScopes):
            error = ProviderErrors.brokerError(.refused(refusal), authorityName: place)
        case "invalid_scope":
            error = interaction(
                .scopesNotGranted, "The person has not granted all of these scopes yet; ask interactively.")
        case "consent_required":
            error = interaction(.consentRequired, "\(place) wants the person's consent; ask interactively.")
        case "interaction_required" where sentClaims || refusal.claims != nil:
            error = interaction(.claimsChallenge, "\(place) wants more proof from the person; ask interactively.")
        case "interaction_required", "login_required":
            error = interaction(.loginRequired, "\(place) wants the person to sign in again; ask interactively.")
        default:
            error = ProviderErrors.brokerError(.refused(refusal), authorityName: place)
        }
    }
}

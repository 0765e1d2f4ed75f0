import BrokerModel
import BrokerValues

/// What a provider's refusal of a refresh token means: for the caller, and for the token. Pure.
///
/// Whatever the OAuth error is, a person who signs in again is the way out (MSAL, "Errors"), with these exceptions: a
/// scope or a client that does not exist, a protection policy, and a provider that is just not available.
package struct RefreshRefusal: Sendable {
    package var error: BrokerError
    /// The token that was sent will never work again.
    package var tokenIsDead: Bool
    /// The token is good, but not for this client: the app does not belong to the token's family.
    package var isClientMismatch: Bool
    /// The provider narrowed the grant when it was asked for less.
    package var showsNarrowing: Bool

    /// - Parameters:
    ///   - refusedScopes: what it would mean if the scopes were refused.
    ///   - answerWasLost: an earlier answer to this very token never came, so it may have been replaced by one that
    ///     nobody has.
    package init(
        _ refusal: OAuthRefusal, refusedScopes: ScopeRefusal, sentClaims: Bool, answerWasLost: Bool = false,
        at place: String
    ) {
        func interaction(_ reason: ErrorReason, _ message: String) -> BrokerError {
            BrokerError(.interactionRequired, message, reason: reason, cause: ProviderError.refused(refusal)) {
                $0.add(refusal)
            }
        }
        tokenIsDead = refusal.endsTheToken
        isClientMismatch = refusal.subError == "client_mismatch"
        showsNarrowing = refusal.error == "invalid_scope" && refusedScopes == .narrowed
        switch refusal.error {
        case "invalid_scope" where refusedScopes == .notGranted:
            error = interaction(.scopesNotGranted, ScopeRefusal.notGrantedSentence)
        case "invalid_scope" where refusedScopes == .narrowed:
            error = interaction(
                .scopesNotGranted,
                "\(place) does not count these scopes to the saved sign-in any more; sign in again.")
        case "invalid_scope", "invalid_client", "temporarily_unavailable", "server_error":
            error = ProviderErrors.brokerError(.refused(refusal), authorityName: place)
        default:
            guard refusal.subError != "protection_policy_required" else {
                error = BrokerError(
                    .unauthorizedClient,
                    "\(place) gives this app tokens on managed devices only; use a device with its app protection policy.",
                    reason: .protectionPolicyRequired, cause: ProviderError.refused(refusal)
                ) { $0.add(refusal) }
                return
            }
            let reason = refusal.reason(sentClaims: sentClaims)
            error = interaction(reason, Self.message(reason, answerWasLost: answerWasLost && tokenIsDead, at: place))
        }
    }

    private static func message(_ reason: ErrorReason, answerWasLost: Bool, at place: String) -> String {
        if answerWasLost {
            return "\(place) does not accept the saved sign-in any more, most likely because its answer to an earlier "
                + "refresh was lost on the way; sign in again."
        }
        switch reason {
        case .refreshTokenExpired:
            return "The saved sign-in at \(place) has expired; sign in again."
        case .refreshTokenRevoked:
            return "\(place) does not accept the saved sign-in any more; sign in again."
        case .consentRequired:
            return "\(place) wants your consent; sign in to give it."
        case .claimsChallenge:
            return "\(place) wants more proof of who you are; sign in again."
        default:
            return "\(place) wants you to sign in again."
        }
    }
}

extension OAuthRefusal {
    /// RFC 6749, section 5.2: `invalid_grant` says that the token is expired, revoked or somebody else's. Entra says the
    /// same of a person who has to do something first, and then tells with a second code that the token is not to blame.
    fileprivate var endsTheToken: Bool {
        error == "invalid_grant" && (subError.map { $0.isEmpty || Self.deadToken.contains($0) } ?? true)
            && Set(errorCodes).isDisjoint(with: Self.personFirst)
    }

    fileprivate func reason(sentClaims: Bool) -> ErrorReason {
        if claims != nil { return .claimsChallenge }
        if error == "consent_required" || subError == "consent_required" || errorCodes.contains(65001) {
            return .consentRequired
        }
        if error == "interaction_required", sentClaims { return .claimsChallenge }
        if endsTheToken {
            let isExpired = subError == "token_expired" || !Set(errorCodes).isDisjoint(with: Self.expired)
            return isExpired ? .refreshTokenExpired : .refreshTokenRevoked
        }
        return .loginRequired
    }

    private static let deadToken: Set<String> = ["bad_token", "token_expired"]
    /// Entra (AADSTS): too old, unused for too long, beyond the sign-in frequency, beyond the fixed life of a page's token.
    private static let expired: Set<Int64> = [70008, 70043, 700081, 700082, 700084, 50089]
    /// Entra: consent, and the ways of asking for a second factor or its registration.
    private static let personFirst: Set<Int64> = [65001, 50072, 50074, 50076, 50078, 50079]
}

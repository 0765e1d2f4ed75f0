import BrokerModel
import BrokerValues

/// The meaning of a provider's refusal of a refresh token, for the caller and for the token. Pure (decision 19).
///
/// Any OAuth error calls for a new sign-in by the person (MSAL, "Errors"), with these exceptions: a scope or a client that does not
/// exist, a protection policy, a provider that is not available, and its nonces for proofs.
package struct RefreshRefusal: Sendable {
    package var error: BrokerError
    /// The state of the token that was sent.
    package var tokenState: TokenState
    /// Whether the token is good, but not for this client: the app does not belong to the token's family.
    package var isClientMismatch: Bool
    /// Whether the person's account no longer exists at the provider, so that its records have to be removed.
    package var isAccountGone: Bool
    /// Whether the provider narrowed the grant when it was asked for less.
    package var showsNarrowing: Bool

    package enum TokenState: Sendable, Equatable {
        /// The refusal is not about the token, or not about its own tenant.
        case lives
        /// The provider calls it dead. It has survived refreshes before, so one refusal is not believed yet.
        case doubtful
        /// It will never work again.
        case dead
    }

    /// The refused account and client, and what is known of the token that was sent.
    package struct Circumstances: Sendable {
        /// The meaning of a refusal of the scopes.
        package var refusedScopes = ScopeRefusal.unknown
        package var sentClaims = false
        /// An earlier response to this token never arrived, so it may have been replaced by a lost one.
        package var answerWasLost = false
        /// The authority is the account's own. A guest's tenant does not speak for the sign-in (decision 19).
        package var isAtHome = true
        /// The provider left the token valid when it was used, and has not called it dead for a while.
        package var isReusable = false
        /// The provider refused the token twice without a reason: it counts as revoked, whatever the kind of provider.
        package var isSecondWithoutReason = false

        package init() {}
    }

    package init(_ refusal: OAuthRefusal, _ circumstances: Circumstances = .init(), at authority: Authority) {
        let place = authority.environment
        let meaning: RefusedGrant =
            circumstances.isSecondWithoutReason ? .revoked : authority.rules.meaning(of: refusal)
        func failure(_ kind: ErrorKind, _ reason: ErrorReason, _ message: String) -> BrokerError {
            BrokerError(kind, message, reason: reason, cause: ProviderError.refused(refusal)) { $0.add(refusal) }
        }
        tokenState =
            if refusal.error != "invalid_grant" || !meaning.endsToken || !circumstances.isAtHome {
                .lives
            } else {
                // A deleted account is not a transient error.
                circumstances.isReusable && meaning != .accountDeleted ? .doubtful : .dead
            }
        isAccountGone = meaning == .accountDeleted && tokenState == .dead
        isClientMismatch = meaning == .otherFamily
        showsNarrowing = refusal.error == "invalid_scope" && circumstances.refusedScopes == .narrowed
        switch refusal.error {
        case "invalid_scope" where circumstances.refusedScopes == .notGranted:
            error = failure(.interactionRequired, .scopesNotGranted, ScopeRefusal.notGrantedSentence)
        case "invalid_scope" where circumstances.refusedScopes == .narrowed:
            error = failure(
                .interactionRequired, .scopesNotGranted,
                "\(place) does not count these scopes to the saved sign-in any more; sign in again.")
        case "invalid_scope", "invalid_client", "temporarily_unavailable", "server_error", "use_dpop_nonce":
            error = ProviderErrors.brokerError(.refused(refusal), authorityName: place)
        default:
            guard refusal.subError != "protection_policy_required" else {
                error = failure(
                    .unauthorizedClient, .protectionPolicyRequired,
                    "\(place) gives this app tokens on managed devices only; use a device with its app protection policy."
                )
                return
            }
            let isChallenge =
                refusal.claims != nil || (refusal.error == "interaction_required" && circumstances.sentClaims)
            let (reason, message) =
                isChallenge
                ? (.claimsChallenge, "\(place) wants more proof of who you are; sign in again.")
                : meaning.explained(tokenState, answerWasLost: circumstances.answerWasLost, at: authority)
            error = failure(.interactionRequired, reason, message)
        }
    }
}

extension RefusedGrant {
    /// - Returns: the reason, and advice for the person.
    fileprivate func explained(
        _ tokenState: RefreshRefusal.TokenState, answerWasLost: Bool, at authority: Authority
    ) -> (ErrorReason, String) {
        let place = authority.environment
        let tenant = authority.tenant.map { "the tenant \($0.name)" } ?? place
        switch self {
        case .expired where tokenState != .lives:
            return (.refreshTokenExpired, Self.ended(answerWasLost, hasExpired: true, place))
        case .revoked where tokenState != .lives:
            return (.refreshTokenRevoked, Self.ended(answerWasLost, hasExpired: false, place))
        case .accountDeleted where tokenState != .lives:
            return (
                .accountDeleted,
                "\(place) says that this account was deleted, so it was removed here, too; sign in with another account."
            )
        case .expired, .revoked, .otherFamily, .needsPerson:
            return (.loginRequired, "\(place) wants you to sign in again.")
        case .needsConsent: return (.consentRequired, "\(place) wants your consent; sign in to give it.")
        case .needsAdminConsent:
            return (.consentRequired, "An administrator of \(tenant) has to consent to this app first; ask there.")
        case .accountDeleted, .notInTenant:
            return (
                .notInTenant,
                "This account does not exist in \(tenant), or is disabled there; use another account or tenant, or ask "
                    + "an administrator there."
            )
        case .notAssigned:
            return (
                .notAssigned,
                "This account is not assigned to the app or its resource in \(tenant); ask an administrator there."
            )
        case .blockedByPolicy:
            return (
                .blockedByPolicy,
                "A policy of \(tenant) blocks this account, device or app; ask an administrator there."
            )
        }
    }

    private static func ended(_ answerWasLost: Bool, hasExpired: Bool, _ place: String) -> String {
        if answerWasLost {
            return "\(place) does not accept the saved sign-in any more, most likely because its answer to an earlier "
                + "refresh was lost on the way; sign in again."
        }
        return hasExpired
            ? "The saved sign-in at \(place) has expired; sign in again."
            : "\(place) does not accept the saved sign-in any more; sign in again."
    }
}

extension RefreshTokenRecord {
    /// The seconds after which a transient cause for refusing a good token is over.
    private static let passingTrouble: NumericDate = 60

    /// Whether to believe another refusal.
    func isRefusedForLong(at now: NumericDate) -> Bool {
        // A refusal from the future means that the clock was set back.
        refusedAt.map { $0 > now || now - $0 >= Self.passingTrouble } ?? false
    }
}

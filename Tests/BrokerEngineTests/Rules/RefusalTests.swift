import BrokerEngine
import BrokerModel
import BrokerValues
import Testing

@Suite("What a refused refresh token means")
struct RefusalTests {
    private func refuse(
        _ error: String, asked: [String] = ["a"], granted: [String] = ["a"], sentClaims: Bool = false,
        claims: String? = nil
    ) -> (kind: ErrorKind, reason: ErrorReason?, dead: Bool) {
        let refusal = RefreshRefusal(
            OAuthRefusal(error: error, description: "why", status: 400, claims: claims), asked: Scopes(asked),
            grantedScopes: Scopes(granted), sentClaims: sentClaims, at: "id.example.org")
        #expect(refusal.error.details.oauthError == error)
        #expect(refusal.error.details.httpStatus == 400)
        return (refusal.error.kind, refusal.error.reason, refusal.tokenIsDead)
    }

    @Test("invalid_grant ends the token: the person has to sign in again")
    func invalidGrant() {
        #expect(refuse("invalid_grant") == (.interactionRequired, .refreshTokenRevoked, true))
    }

    @Test("a scope that was never granted asks for the person; the token lives on")
    func widerScope() {
        #expect(refuse("invalid_scope", asked: ["a", "b"]) == (.interactionRequired, .scopesNotGranted, false))
        #expect(refuse("invalid_scope") == (.invalidScope, nil, false))
    }

    @Test("consent, login and claims challenges ask for the person; the token lives on")
    func interaction() {
        #expect(refuse("consent_required") == (.interactionRequired, .consentRequired, false))
        #expect(refuse("login_required") == (.interactionRequired, .loginRequired, false))
        #expect(refuse("interaction_required") == (.interactionRequired, .loginRequired, false))
        #expect(refuse("interaction_required", sentClaims: true) == (.interactionRequired, .claimsChallenge, false))
        #expect(refuse("interaction_required", claims: "{}") == (.interactionRequired, .claimsChallenge, false))
    }

    @Test("a client that is refused keeps its token: the mistake is in its registration")
    func client() {
        #expect(refuse("invalid_client") == (.invalidClient, nil, false))
        #expect(refuse("unauthorized_client") == (.unauthorizedClient, nil, false))
        #expect(refuse("temporarily_unavailable") == (.serverUnavailable, nil, false))
    }
}

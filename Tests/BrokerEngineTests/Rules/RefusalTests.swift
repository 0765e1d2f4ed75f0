import BrokerEngine
import BrokerModel
import BrokerValues
import Testing

@Suite("What a refused refresh token means")
struct RefusalTests {
    private func meaning(
        _ error: String, _ subError: String? = nil, codes: [Int64] = [], asked: [String] = ["a"],
        granted: [String] = ["a"], sentClaims: Bool = false, claims: String? = nil, lost: Bool = false,
        kind: AuthorityKind = .generic
    ) -> RefreshRefusal {
        RefreshRefusal(
            OAuthRefusal(
                error: error, subError: subError, description: "why", status: 400, claims: claims, errorCodes: codes),
            asked: Scopes(asked), grantedScopes: Scopes(granted), sentClaims: sentClaims, answerWasLost: lost,
            kind: kind, at: "id.example.org")
    }

    private func refuse(
        _ error: String, _ subError: String? = nil, codes: [Int64] = [], asked: [String] = ["a"],
        sentClaims: Bool = false, claims: String? = nil
    ) -> (kind: ErrorKind, reason: ErrorReason?, dead: Bool) {
        let refusal = meaning(
            error, subError, codes: codes, asked: asked, sentClaims: sentClaims, claims: claims)
        #expect(refusal.error.details.oauthError == error)
        #expect(refusal.error.details.subError == subError)
        #expect(refusal.error.details.claims == claims)
        #expect(refusal.error.details.httpStatus == 400)
        return (refusal.error.kind, refusal.error.reason, refusal.tokenIsDead)
    }

    @Test("invalid_grant ends the token: the person has to sign in again")
    func invalidGrant() {
        #expect(refuse("invalid_grant") == (.interactionRequired, .refreshTokenRevoked, true))
        #expect(refuse("invalid_grant", "bad_token") == (.interactionRequired, .refreshTokenRevoked, true))
    }

    @Test("Entra's codes tell an expired token from a revoked one", arguments: [70008, 70043, 700081, 700082, 700084])
    func expired(code: Int64) {
        #expect(
            refuse("invalid_grant", "bad_token", codes: [code]) == (.interactionRequired, .refreshTokenExpired, true))
        #expect(refuse("invalid_grant", codes: [50173]) == (.interactionRequired, .refreshTokenRevoked, true))
    }

    @Test(
        "invalid_grant with a suberror that sends the person somewhere leaves the token alone",
        arguments: [
            "message_only", "basic_action", "additional_action", "user_password_expired", "client_mismatch",
        ])
    func suberror(subError: String) {
        #expect(refuse("invalid_grant", subError) == (.interactionRequired, .loginRequired, false))
    }

    @Test("missing consent is told as such, by suberror, by code or by error, and does not end the token")
    func consent() {
        let expected = (ErrorKind.interactionRequired, ErrorReason?.some(.consentRequired), false)
        #expect(refuse("invalid_grant", "consent_required") == expected)
        #expect(refuse("invalid_grant", codes: [65001]) == expected)
        #expect(refuse("consent_required") == expected)
    }

    @Test("a second factor that is missing does not end the token")
    func secondFactor() {
        #expect(refuse("invalid_grant", codes: [50076]) == (.interactionRequired, .loginRequired, false))
    }

    @Test("a claims challenge is carried along to the app")
    func claims() {
        let claims = #"{"access_token":{"capolids":{"essential":true}}}"#
        #expect(
            refuse("interaction_required", claims: claims) == (.interactionRequired, .claimsChallenge, false))
        #expect(refuse("invalid_grant", "basic_action", claims: claims).reason == .claimsChallenge)
        #expect(refuse("interaction_required", sentClaims: true).reason == .claimsChallenge)
    }

    @Test("a protection policy is no interaction: no sign-in on this device will satisfy it")
    func protectionPolicy() {
        #expect(
            refuse("unauthorized_client", "protection_policy_required")
                == (.unauthorizedClient, .protectionPolicyRequired, false))
    }

    @Test("invalid_scope asks for the person, be the scope not granted yet or not any more; the token lives on")
    func scopesNotGranted() {
        #expect(refuse("invalid_scope", asked: ["a", "b"]) == (.interactionRequired, .scopesNotGranted, false))
        #expect(refuse("invalid_scope") == (.interactionRequired, .scopesNotGranted, false))
    }

    @Test("what is refused although it was granted shows that an earlier refresh for less took it away")
    func narrowedGrant() {
        #expect(meaning("invalid_scope", asked: ["a"], granted: ["a", "b"]).showsNarrowedGrant)
        #expect(!meaning("invalid_scope", asked: ["a", "c"], granted: ["a", "b"]).showsNarrowedGrant)
        #expect(!meaning("invalid_scope", asked: [], granted: ["a", "b"]).showsNarrowedGrant)
        #expect(!meaning("invalid_scope", kind: .entra(.common)).showsNarrowedGrant)
        #expect(!meaning("invalid_grant").showsNarrowedGrant)
    }

    @Test(
        "where Entra says invalid_scope, no person can help: what was not granted is told in other words there",
        arguments: [AuthorityKind.entra(.common), .ciam(.common), .b2c(tenant: "t", policy: "p")])
    func scopesUnknownToEntra(kind: AuthorityKind) {
        for asked in [["a"], ["a", "b"]] {
            let refusal = meaning("invalid_scope", asked: asked, kind: kind)
            #expect(refusal.error.kind == .invalidScope)
            #expect(refusal.error.details.oauthError == "invalid_scope")
            #expect(!refusal.tokenIsDead)
        }
    }

    @Test(
        "any other OAuth error of a silent request asks for the person; the token lives on",
        arguments: [
            "login_required", "interaction_required", "unauthorized_client", "invalid_request", "access_denied",
            "unsupported_grant_type", "invalid_target", "something_new",
        ])
    func others(error: String) {
        #expect(refuse(error) == (.interactionRequired, .loginRequired, false))
    }

    @Test("a client that does not exist is a mistake in the registration; a provider that is busy is no mistake at all")
    func client() {
        #expect(refuse("invalid_client") == (.invalidClient, nil, false))
        #expect(refuse("temporarily_unavailable") == (.serverUnavailable, nil, false))
        #expect(refuse("server_error") == (.serverUnavailable, nil, false))
    }

    @Test("a token that is refused after its answer was lost is said to be refused for that")
    func lostAnswer() {
        let refusal = meaning("invalid_grant", lost: true)
        #expect(refusal.tokenIsDead)
        #expect(refusal.error.reason == .refreshTokenRevoked)
        #expect(refusal.error.message.contains("lost"))
        #expect(!meaning("invalid_grant").error.message.contains("lost"))
        #expect(!meaning("invalid_grant", "basic_action", lost: true).error.message.contains("lost"))
    }
}

import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Refused refresh tokens")
struct RefusalTests {
    private func meaning(
        _ error: String, _ subError: String? = nil, codes: [Int64] = [], refusedScopes: ScopeRefusal = .unknown,
        sentClaims: Bool = false, claims: String? = nil, lost: Bool = false
    ) -> RefreshRefusal {
        var circumstances = RefreshRefusal.Circumstances()
        (circumstances.refusedScopes, circumstances.sentClaims) = (refusedScopes, sentClaims)
        circumstances.answerWasLost = lost
        return RefreshRefusal(
            OAuthRefusal(
                error: error, subError: subError, description: "why", status: 400, claims: claims, errorCodes: codes),
            circumstances, at: Sample.authority())
    }

    private func refuse(
        _ error: String, _ subError: String? = nil, codes: [Int64] = [], refusedScopes: ScopeRefusal = .unknown,
        sentClaims: Bool = false, claims: String? = nil
    ) -> (kind: ErrorKind, reason: ErrorReason?, dead: Bool) {
        let refusal = meaning(
            error, subError, codes: codes, refusedScopes: refusedScopes, sentClaims: sentClaims, claims: claims)
        #expect(refusal.error.details.oauthError == error)
        #expect(refusal.error.details.subError == subError)
        #expect(refusal.error.details.claims == claims)
        #expect(refusal.error.details.httpStatus == 400)
        return (refusal.error.kind, refusal.error.reason, refusal.tokenState == .dead)
    }

    @Test("invalid_grant ends the token, and the person has to sign in again")
    func invalidGrant() {
        #expect(refuse("invalid_grant") == (.interactionRequired, .refreshTokenRevoked, true))
        #expect(refuse("invalid_grant", "bad_token") == (.interactionRequired, .refreshTokenRevoked, true))
    }

    @Test("a provider's text for people is in no log line")
    func logLine() {
        let refusal = OAuthRefusal(
            error: "invalid_grant", subError: "bad_token", description: "alice@example.org is not assigned",
            status: 400,
            claims: "{}", errorCodes: [50105])
        #expect("\(ProviderError.refused(refusal))" == "refused(invalid_grant bad_token 50105 (status 400))")
    }

    @Test(
        "invalid_grant with a suberror that needs an action of the person leaves the token alone",
        arguments: [
            "message_only", "basic_action", "additional_action", "user_password_expired", "client_mismatch",
        ])
    func suberror(subError: String) {
        #expect(refuse("invalid_grant", subError) == (.interactionRequired, .loginRequired, false))
    }

    @Test("missing consent is recognized by suberror, code or error, and does not end the token")
    func consent() {
        let expected = (ErrorKind.interactionRequired, ErrorReason?.some(.consentRequired), false)
        #expect(refuse("invalid_grant", "consent_required") == expected)
        #expect(refuse("consent_required") == expected)
    }

    @Test("a claims challenge is passed to the app")
    func claims() {
        let claims = #"{"access_token":{"capolids":{"essential":true}}}"#
        #expect(
            refuse("interaction_required", claims: claims) == (.interactionRequired, .claimsChallenge, false))
        #expect(refuse("invalid_grant", "basic_action", claims: claims).reason == .claimsChallenge)
        #expect(refuse("interaction_required", sentClaims: true).reason == .claimsChallenge)
    }

    @Test("a protection policy needs no interaction, because no sign-in on this device satisfies it")
    func protectionPolicy() {
        #expect(
            refuse("unauthorized_client", "protection_policy_required")
                == (.unauthorizedClient, .protectionPolicyRequired, false))
    }

    @Test("invalid_scope for a scope that is not or no longer granted asks for the person and keeps the token")
    func scopesNotGranted() {
        for (refused, word) in [(ScopeRefusal.notGranted, "yet"), (.narrowed, "any more")] {
            #expect(
                refuse("invalid_scope", refusedScopes: refused) == (.interactionRequired, .scopesNotGranted, false))
            let meaning = meaning("invalid_scope", refusedScopes: refused)
            #expect(meaning.error.message.contains(word))
            #expect(meaning.showsNarrowing == (refused == .narrowed))
        }
    }

    @Test("invalid_scope for a scope that the provider lacks is the developer's mistake, without interaction")
    func scopesUnknown() {
        #expect(refuse("invalid_scope", refusedScopes: .unknown) == (.invalidScope, nil, false))
    }

    @Test("other refusals say nothing about scopes")
    func noScopes() {
        #expect(!meaning("invalid_grant", refusedScopes: .narrowed).showsNarrowing)
        #expect(refuse("invalid_grant", refusedScopes: .notGranted).reason == .refreshTokenRevoked)
    }

    @Test(
        "any other OAuth error of a silent request asks for the person and keeps the token",
        arguments: [
            "login_required", "interaction_required", "unauthorized_client", "invalid_request", "access_denied",
            "unsupported_grant_type", "invalid_target", "something_new",
        ])
    func others(error: String) {
        #expect(refuse(error) == (.interactionRequired, .loginRequired, false))
    }

    @Test("an unknown client is a mistake in the registration, and a busy provider is none")
    func client() {
        #expect(refuse("invalid_client") == (.invalidClient, nil, false))
        #expect(refuse("temporarily_unavailable") == (.serverUnavailable, nil, false))
        #expect(refuse("server_error") == (.serverUnavailable, nil, false))
    }

    @Test("another nonce for each proof asks for no person and keeps the token")
    func proof() {
        #expect(refuse("use_dpop_nonce") == (.serverUnavailable, nil, false))
    }

    @Test("a refusal after a lost response names that as the reason")
    func lostAnswer() {
        let refusal = meaning("invalid_grant", lost: true)
        #expect(refusal.tokenState == .dead)
        #expect(refusal.error.reason == .refreshTokenRevoked)
        #expect(refusal.error.message.contains("lost"))
        #expect(!meaning("invalid_grant").error.message.contains("lost"))
        #expect(!meaning("invalid_grant", "basic_action", lost: true).error.message.contains("lost"))
    }

    @Test("a token that worked in earlier refreshes survives its first refusal")
    func doubtful() {
        var circumstances = RefreshRefusal.Circumstances()
        circumstances.isReusable = true
        let refused = OAuthRefusal(error: "invalid_grant", status: 400)
        let refusal = RefreshRefusal(refused, circumstances, at: Sample.authority())
        #expect(refusal.tokenState == .doubtful)
        #expect(refusal.error.reason == .refreshTokenRevoked)
    }
}

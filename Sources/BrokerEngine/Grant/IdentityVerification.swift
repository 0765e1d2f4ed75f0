import BrokerModel
import BrokerValues
import Logging

/// Verifies the identity of the person in a token response.
struct IdentityVerification: Sendable {
    let provider: any IdentityProvider
    let settings: SettingsBox
    let log: Logger

    /// The person who signed in. The ID token identifies them; their names may be in UserInfo only (OpenID Connect Core, section
    /// 5.4).
    ///
    /// A sign-in on another device (RFC 8628) is not an OpenID Connect request, and some providers answer it without an ID token.
    /// UserInfo identifies the person then (decision 13).
    func claims(
        in response: TokenResponse, for app: AppRegistration, nonce: String?, at authority: Authority,
        metadata: ProviderMetadata,
        proofKey: ProofKey?
    ) async throws(BrokerError) -> IDTokenClaims {
        func userInfo() async throws(ProviderError) -> UserInfo {
            try await provider.userInfo(
                with: response.accessToken, response.tokenType, provenBy: proofKey, at: metadata)
        }
        guard let idToken = response.idToken else {
            guard nonce == nil, !authority.hasTenants, metadata.userinfoEndpoint != nil else {
                throw Self.nobodyNamed(at: authority)
            }
            let answer = try await ProviderErrors.mapping(at: authority, userInfo)
            return IDTokenClaims(
                issuer: ExactText(metadata.issuer), subject: answer.subject,
                all: ProfileClaims.of(answer.claims).merging(["sub": .string(answer.subject.text)]) { $1 })
        }
        var claims = try await verified(
            idToken, for: app, isSignIn: true, with: response.accessToken, nonce: nonce, authority, metadata)
        guard !ProfileClaims.sayWhoItIs(claims), metadata.userinfoEndpoint != nil else { return claims }
        do throws(ProviderError) {
            let answer = try await userInfo()
            // Section 5.3.2: UserInfo may be about another person, and is not used then.
            if answer.subject == claims.subject {
                claims.all.merge(ProfileClaims.of(answer.claims)) { mine, _ in mine }
            }
        } catch {
            log.notice(
                "the provider did not return the person's name; the sign-in continues without it",
                metadata: ["cause": settings.quoted(error)])
        }
        return claims
    }

    func verified(
        _ idToken: Secret, for app: AppRegistration, isSignIn: Bool, with accessToken: Secret? = nil,
        nonce: String? = nil, earlierNonce: String? = nil, _ authority: Authority, _ metadata: ProviderMetadata
    ) async throws(BrokerError) -> IDTokenClaims {
        var expected = IDTokenExpectation(clientID: app.clientID, nonce: nonce)
        expected.isSignIn = isSignIn
        expected.earlierNonce = earlierNonce.map { ExactText($0) }
        expected.accessToken = accessToken
        expected.clientSecret = app.credentials(at: authority).secret
        let expectation = expected
        return try await ProviderErrors.mapping(at: authority) { () throws(ProviderError) in
            try await provider.verify(idToken: idToken, against: expectation, at: metadata)
        }
    }

    private static func nobodyNamed(at authority: Authority) -> BrokerError {
        BrokerError(
            .invalidResponse,
            "\(authority.environment) sent no ID token; it must be an OpenID provider, and the client allowed to use openid."
        )
    }
}

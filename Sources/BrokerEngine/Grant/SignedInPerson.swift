import BrokerModel
import BrokerValues
import Logging

extension TokenResponseStore {
    /// Who signed in. The ID token says it; what they are called may stand in UserInfo only (OpenID Connect Core, section
    /// 5.4).
    ///
    /// A sign-in on another device is no request of OpenID Connect, and some providers answer it without an ID token. Then
    /// UserInfo says who it is (decision 36).
    func person(
        in response: TokenResponse, nonce: String?, at authority: Authority, metadata: ProviderMetadata,
        proofKey: ProofKey?
    ) async throws(BrokerError) -> IDTokenClaims {
        func userInfo() async throws(ProviderError) -> UserInfo {
            try await services.provider.userInfo(
                with: response.accessToken, response.tokenType, provenBy: proofKey, at: metadata)
        }
        guard let idToken = response.idToken else {
            guard nonce == nil, !authority.hasTenants, metadata.userinfoEndpoint != nil else {
                throw Self.nobodyNamed(at: authority)
            }
            let told = try await services.asking(authority, userInfo)
            return IDTokenClaims(
                issuer: ExactText(metadata.issuer), subject: told.subject,
                all: ProfileClaims.of(told.claims).merging(["sub": .string(told.subject.text)]) { $1 })
        }
        var claims = try await verified(
            idToken, isSignIn: true, with: response.accessToken, nonce: nonce, authority, metadata)
        guard !ProfileClaims.sayWhoItIs(claims), metadata.userinfoEndpoint != nil else { return claims }
        do throws(ProviderError) {
            let told = try await userInfo()
            // Section 5.3.2: it may be about somebody else, and is not used then.
            if told.subject == claims.subject { claims.all.merge(ProfileClaims.of(told.claims)) { mine, _ in mine } }
        } catch {
            services.log.notice(
                "the provider did not say what the person is called; the sign-in goes on without",
                metadata: ["cause": services.quoted(error)])
        }
        return claims
    }

    private static func nobodyNamed(at authority: Authority) -> BrokerError {
        BrokerError(
            .invalidResponse,
            "\(authority.environment) sent no ID token; it must be an OpenID provider, and the client allowed to use openid."
        )
    }
}

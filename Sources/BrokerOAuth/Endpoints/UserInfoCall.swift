import BrokerModel
import BrokerValues

extension OAuthProvider {
    /// OpenID Connect Core, section 5.3. Signed or encrypted responses are sent only to clients that were registered for
    /// them, and are not read.
    ///
    /// A provider that fails for a moment is asked again: only sign-ins ask, and their code is spent.
    package func userInfo(
        with accessToken: Secret, _ type: TokenType, provenBy key: ProofKey?, at metadata: ProviderMetadata
    ) async throws(ProviderError) -> UserInfo {
        do throws(ProviderError) {
            return try await userInfoOnce(with: accessToken, type, provenBy: key, at: metadata)
        } catch {
            guard await SecondTry.follows(error, by: clock) else { throw error }
            return try await userInfoOnce(with: accessToken, type, provenBy: key, at: metadata)
        }
    }

    private func userInfoOnce(
        with accessToken: Secret, _ type: TokenType, provenBy key: ProofKey?, at metadata: ProviderMetadata
    ) async throws(ProviderError) -> UserInfo {
        let endpoint = try endpoint(metadata.userinfoEndpoint, for: "UserInfo", of: metadata)
        let request = HTTPRequest(
            .get, endpoint.text, of: metadata.authority.trustBoundary,
            headers: [HTTPHeader("Accept", "application/json"), .authorization(type, accessToken)])
        let answer = try await answer(
            to: request, provenWith: type == .dpop ? key : nil, accessToken: accessToken, from: endpoint)
        let object = try answer.object(statuses: [200], expected: "a person's claims as JSON")
        let body = answer.response.body
        guard body.count <= CompactToken.longest, (try? JSONReader.read(body, names: .areUnique)) != nil,
            let subject = object["sub"]?.exactText, !subject.text.isEmpty
        else { throw answer.incomplete("does not name the token's user") }
        return UserInfo(subject: subject, claims: object)
    }
}

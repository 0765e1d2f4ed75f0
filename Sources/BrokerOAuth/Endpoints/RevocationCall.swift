import BrokerModel

extension OAuthProvider {
    /// RFC 7009, section 2. The provider treats an unknown token as revoked, too.
    package func revoke(
        _ token: Secret, _ kind: RevocableToken, as client: ClientCredentials, at metadata: ProviderMetadata
    ) async throws(ProviderError) {
        let endpoint = try endpoint(metadata.revocationEndpoint, for: "revocation", of: metadata)
        var form = ClientForm()
        form.body.add("token", token)
        form.body.add("token_type_hint", kind.rawValue)
        let answer = try await answer(to: form.request(to: endpoint, as: client, at: metadata), from: endpoint)
        // The status decides (section 2.2); the body of a success may be anything.
        if (200...204).contains(answer.response.status) { return }
        _ = try answer.object(statuses: [], expected: "status 200 or an OAuth error")
    }
}

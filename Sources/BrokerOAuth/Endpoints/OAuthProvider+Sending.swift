import BrokerModel
import BrokerValues

extension OAuthProvider {
    /// Sends one request that changes state at the provider and returns its response, whatever the status.
    private func send(_ request: HTTPRequest) async throws(ProviderError) -> HTTPResponse {
        do throws(HTTPFailure) {
            let response = try await transport.send(request)
            if let nonce = response.header("dpop-nonce"), let url = WebURL(request.url) {
                nonces.remember(nonce, from: url.text)
            }
            return response
        } catch {
            throw ProviderError(error, isRepeatable: request.isRepeatable)
        }
    }

    func answer(to request: HTTPRequest, from endpoint: WebURL) async throws(ProviderError) -> EndpointAnswer {
        let response = try await send(request)
        let content = await thread.answer(in: response.body)
        return EndpointAnswer(
            response: response, content: content, server: endpoint.server, now: clock.now, sent: request.body)
    }

    /// The metadata may come from a cache or a caller, so the target of a secret is checked again before sending.
    func endpoint(_ url: String, of metadata: ProviderMetadata) throws(ProviderError) -> WebURL {
        guard let endpoint = EndpointRule(authority: metadata.authority).accepted(url) else {
            throw .invalidResponse(
                status: nil, "The provider names an address that is not an https URL. Ask the provider's operator.")
        }
        return endpoint
    }

    /// - Parameter what: what the provider offers there, for the error message: "device sign-in".
    func endpoint(
        _ url: String?, for what: String, of metadata: ProviderMetadata
    ) throws(ProviderError) -> WebURL {
        guard let url else {
            throw .notOffered("The provider \(metadata.authority.environment) does not offer \(what).")
        }
        return try endpoint(url, of: metadata)
    }
}

import BrokerModel
import BrokerValues

extension OAuthProvider {
    /// Sends a request with a proof. A server that refuses it for the want of a nonce has not looked at the rest, so it
    /// goes out once more with the nonce (RFC 9449, section 8).
    func answer(
        to request: HTTPRequest, provenWith key: ProofKey, from endpoint: WebURL
    ) async throws(ProviderError) -> EndpointAnswer {
        let nonce = nonces[endpoint.origin]
        let answer = try await answer(to: proven(request, with: key, nonce: nonce), from: endpoint)
        guard Self.asksForNonce(answer), let fresh = nonces[endpoint.origin], fresh != nonce else { return answer }
        return try await self.answer(to: proven(request, with: key, nonce: fresh), from: endpoint)
    }

    private func proven(
        _ request: HTTPRequest, with key: ProofKey, nonce: String?
    ) throws(ProviderError) -> HTTPRequest {
        let target = ProofTarget(method: request.method.rawValue, url: request.url)
        guard let proof = proofs.proof(with: key, for: target, accessToken: nil, nonce: nonce, now: clock.now) else {
            throw .invalidResponse(status: nil, "The saved DPoP key is damaged. Sign in again to make a new one.")
        }
        var request = request
        request.headers.append(HTTPHeader("DPoP", proof))
        return request
    }

    private static func asksForNonce(_ answer: EndpointAnswer) -> Bool {
        [400, 401].contains(answer.response.status) && answer.object?["error"] == "use_dpop_nonce"
    }
}

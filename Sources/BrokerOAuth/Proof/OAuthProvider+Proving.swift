import BrokerModel
import BrokerValues

extension OAuthProvider {
    /// Sends a request with a proof. A server that refuses it for the want of a nonce has not looked at the rest, so it
    /// goes out once more with the nonce (RFC 9449, section 8).
    func send(
        _ request: HTTPRequest, provenWith key: ProofKey, to endpoint: WebURL
    ) async throws(ProviderError) -> HTTPResponse {
        let nonce = nonces[endpoint.origin]
        let response = try await send(proven(request, with: key, nonce: nonce))
        guard Self.asksForNonce(response), let fresh = nonces[endpoint.origin], fresh != nonce else { return response }
        return try await send(proven(request, with: key, nonce: fresh))
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

    private static func asksForNonce(_ response: HTTPResponse) -> Bool {
        (response.status == 400 || response.status == 401)
            && JSONObject(json: response.body)?["error"] == "use_dpop_nonce"
    }
}

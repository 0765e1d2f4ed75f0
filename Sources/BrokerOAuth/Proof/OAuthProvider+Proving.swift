import BrokerModel
import BrokerValues

extension OAuthProvider {
    /// Sends a request with a proof. A server that refuses it for lack of a nonce has not processed the rest, so it
    /// is sent once more with the nonce (RFC 9449, section 8), and again if that nonce is refused for another one: the
    /// nodes of some servers have separate nonces.
    ///
    /// - Parameters:
    ///   - key: `nil` for a request without a proof.
    ///   - accessToken: the token that the request uses, unless it is to get one.
    func answer(
        to request: HTTPRequest, provenWith key: ProofKey?, accessToken: Secret? = nil, from endpoint: WebURL
    ) async throws(ProviderError) -> EndpointAnswer {
        guard let key else { return try await answer(to: request, from: endpoint) }
        var nonce = nonces[endpoint.text]
        var repetitions = 0
        while true {
            let answer = try await self.answer(
                to: proven(request, with: key, accessToken, nonce: nonce), from: endpoint)
            // The response's own nonce, not the remembered one: another request may have received another one since.
            guard repetitions < Self.mostRepetitions, Self.asksForNonce(answer),
                let fresh = answer.response.header("dpop-nonce"), NonceMemory.isNonce(fresh), fresh != nonce
            else { return answer }
            nonce = fresh
            repetitions += 1
        }
    }

    private static var mostRepetitions: Int { 2 }

    private func proven(
        _ request: HTTPRequest, with key: ProofKey, _ accessToken: Secret?, nonce: String?
    ) throws(ProviderError) -> HTTPRequest {
        let target = ProofTarget(method: request.method.rawValue, url: request.url)
        guard
            let proof = proofs.proof(with: key, for: target, accessToken: accessToken, nonce: nonce, now: clock.now)
        else {
            throw .invalidResponse(status: nil, "The saved DPoP key is damaged. Sign in again to make a new one.")
        }
        var request = request
        request.headers.append(HTTPHeader("DPoP", proof))
        return request
    }

    /// Authorization servers report it in the body (section 8), others in a header (section 9).
    private static func asksForNonce(_ answer: EndpointAnswer) -> Bool {
        guard [400, 401].contains(answer.response.status) else { return false }
        return answer.object?["error"] == "use_dpop_nonce"
            || answer.response.header("www-authenticate")?.holds("\"use_dpop_nonce\"") == true
    }
}

import BrokerRPC
import BrokerValues

/// What a DPoP call needs beside its token (RFC 9449).
public struct TokenProof: Sendable {
    /// The value of the HTTP header `DPoP`, good for one call.
    public let proof: String
    /// Of the key that signed it (RFC 7638); the key itself stays in the broker.
    public let keyThumbprint: String
}

extension PublicClientApplication {
    /// A proof that the app may use a token of type DPoP, for one call of an API. Send it in the header `DPoP`, beside
    /// ``TokenResult/authorizationHeader``.
    ///
    /// - Parameters:
    ///   - result: the token of the call.
    ///   - method: as in the request line, such as `GET`.
    ///   - url: what is called; query and fragment do not matter.
    ///   - nonce: from the API's header `DPoP-Nonce`, if it sent one.
    /// - Returns: a new proof; an API takes each of them once.
    /// - Throws: ``BrokerClientError/Code/interactionRequired`` when the account has no DPoP key any more;
    ///   ``BrokerClientError/Code/invalidParameter`` when the URL is none.
    public func proof(
        for result: TokenResult, method: String, url: String, nonce: String? = nil
    ) async throws(BrokerClientError) -> TokenProof {
        var params = ProveToken.Params(configuration.app, httpMethod: method, url: url)
        params.account = .id(result.account.identifier)
        params.accessToken = result.accessToken
        params.nonce = nonce
        let answer = try await connection.call(ProveToken.self, params)
        return TokenProof(proof: answer.proof, keyThumbprint: answer.keyThumbprint)
    }
}

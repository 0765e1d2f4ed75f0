import BrokerRPC
import BrokerValues

/// The headers that a DPoP call needs in addition to its token (RFC 9449).
public struct TokenProof: Sendable {
    /// The value of the HTTP header `DPoP`, good for one call.
    public let proof: String
    /// The thumbprint of the signing key (RFC 7638); the key itself stays in the broker.
    public let keyThumbprint: String
}

extension PublicClientApplication {
    /// A proof that the app may use a token of type DPoP, for one call of an API. Send it in the header `DPoP`, together
    /// with ``TokenResult/authorizationHeader``.
    ///
    /// - Parameters:
    ///   - result: the token of the call.
    ///   - method: the HTTP method, such as `GET`.
    ///   - url: the URL of the call; query and fragment are ignored.
    ///   - nonce: from the API's header `DPoP-Nonce`, if it sent one.
    /// - Returns: a new proof; an API accepts each of them once.
    /// - Throws: ``BrokerClientError/Code/interactionRequired`` if the account has no DPoP key any more;
    ///   ``BrokerClientError/Code/invalidParameter`` if the URL is invalid.
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

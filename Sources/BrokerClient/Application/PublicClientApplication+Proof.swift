import BrokerRPC
import BrokerValues

/// A proof that a call is made by the holder of a token's key (RFC 9449, section 4).
public struct TokenProof: Sendable {
    /// The value of the HTTP header `DPoP`, valid for one call (RFC 9449, section 4.1).
    public let proof: String
    /// The thumbprint of the signing key (RFC 7638); the key itself stays in the broker.
    public let keyThumbprint: String
}

extension PublicClientApplication {
    /// Makes a proof for one call of an API with a token of type DPoP (RFC 9449, section 7). Send it in the header `DPoP`, together
    /// with ``TokenResult/authorizationHeader``.
    ///
    /// - Parameters:
    ///   - result: the token of the call.
    ///   - method: the HTTP method, such as `GET`.
    ///   - url: the URL of the call; query and fragment are ignored (RFC 9449, section 4.2).
    ///   - nonce: the value of the API's header `DPoP-Nonce`, if it sent one (RFC 9449, section 9).
    /// - Returns: a new proof; an API accepts each of them once.
    /// - Throws: ``BrokerClientError/Code/interactionRequired`` if the account no longer has a DPoP key;
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

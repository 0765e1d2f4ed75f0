import FoundationEssentials

/// A DPoP proof (RFC 9449, section 4.2) with a valid signature, whose claims are not yet checked.
struct PossessionProof: Sendable {
    /// The thumbprint of its key (RFC 7638), as in `cnf.jkt`.
    let thumbprint: String
    let identifier: String
    let method: String
    let url: String
    let issuedAt: Int
    let nonce: String?
    let accessTokenHash: String?

    /// Seconds by which a proof may be older, or newer, than the local time.
    static let tolerance = 120

    private struct Header: Decodable {
        let typ: String
        let alg: String
        let jwk: Key
    }

    private struct Key: Decodable {
        let kty: String
        let crv: String
        let x: String
        let y: String
        /// A private key, which must not be here.
        let d: String?
    }

    private struct Payload: Decodable {
        let jti: String
        let htm: String
        let htu: String
        let iat: Int
        let nonce: String?
        let ath: String?
    }

    /// Reads a proof and checks its form and signature (section 4.3, points 1 to 7). ES256 only.
    init(_ text: String) throws(OAuthFailure) {
        guard let token = JSONWebToken(text), let header = token.header(as: Header.self) else {
            throw OAuthFailure(.invalidProof, "the proof is not a JWT with typ, alg and a public jwk")
        }
        guard header.typ == "dpop+jwt", header.alg == "ES256", header.jwk.kty == "EC", header.jwk.crv == "P-256",
            header.jwk.d == nil
        else { throw OAuthFailure(.invalidProof, "the proof is not of type dpop+jwt, with ES256 and a public key") }
        guard let x = Data(base64URLText: header.jwk.x), let y = Data(base64URLText: header.jwk.y),
            let key = ProviderKey(p256: x, y), token.isSigned(by: key)
        else { throw OAuthFailure(.invalidProof, "the proof's signature is wrong") }
        guard let payload = token.claims(as: Payload.self) else {
            throw OAuthFailure(.invalidProof, "the proof lacks jti, htm, htu or iat")
        }
        let canonical = "{\"crv\":\"P-256\",\"kty\":\"EC\",\"x\":\"\(header.jwk.x)\",\"y\":\"\(header.jwk.y)\"}"
        thumbprint = Digest.sha256.of(canonical.utf8).base64URLText
        identifier = payload.jti
        method = payload.htm
        url = payload.htu
        issuedAt = payload.iat
        nonce = payload.nonce
        accessTokenHash = payload.ath
    }

    /// Section 4.3, points 8 to 12 except the nonce and the replay, which the caller tracks.
    ///
    /// - Parameters:
    ///   - place: host, port and path of the request; a TLS proxy may be in front, so http and https are
    ///     equivalent.
    ///   - time: seconds since 1970, on a clock that no test moves: the client's is not moved either.
    func check(method: String, place: String, time: Int, accessToken: String?) throws(OAuthFailure) {
        guard self.method == method else { throw OAuthFailure(.invalidProof, "htm is not \(method)") }
        let target = url.prefix { $0 != "?" && $0 != "#" }
        guard ["http://", "https://"].contains(where: { target == $0 + place }) else {
            throw OAuthFailure(.invalidProof, "htu is not the address of this request")
        }
        guard abs(time - issuedAt) <= Self.tolerance else {
            throw OAuthFailure(.invalidProof, "iat is too far from now")
        }
        if let accessToken {
            let hash = Digest.sha256.of(accessToken.utf8).base64URLText
            guard accessTokenHash == hash else { throw OAuthFailure(.invalidProof, "ath is not the token's hash") }
        }
    }
}

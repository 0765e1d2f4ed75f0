import BrokerModel
import BrokerValues

/// Demonstrating proof of possession (RFC 9449) with ES256, which every provider with DPoP accepts.
package struct ES256ProofSigner: ProofSigner {
    private let random: any RandomSource

    /// - Parameter random: for `jti`. Keys come from libsodium's generator, directly into guarded memory.
    package init(random: any RandomSource) {
        self.random = random
    }

    package func makeKey() -> ProofKey? {
        // Any number below the curve's order is a key, which excludes one in 2^32 random numbers.
        key(privateKey: .random(count: 32)) ?? key(privateKey: .random(count: 32))
    }

    package func key(privateKey: Secret) -> ProofKey? {
        guard let pair = P256KeyPair(privateKey) else { return nil }
        return ProofKey(privateKey: privateKey, thumbprint: pair.publicKey.thumbprint)
    }

    package func proof(
        with key: ProofKey, for target: ProofTarget, accessToken: Secret?, nonce: String?, now: NumericDate
    ) -> String? {
        guard let pair = P256KeyPair(key.privateKey), let url = WebURL(target.url) else { return nil }
        var claims: JSONObject = [
            "jti": .string(Base64URL.encode(random.bytes(16))), "htm": .string(target.method),
            "htu": .string(url.proofTarget), "iat": .integer(now - Self.headStart),
        ]
        if let accessToken { claims["ath"] = .string(Self.hash(accessToken)) }
        if let nonce { claims["nonce"] = .string(nonce) }
        let header = #"{"typ":"dpop+jwt","alg":"ES256","jwk":\#(pair.publicKey.text)}"#
        let signed = "\(Base64URL.encode(header.utf8)).\(Base64URL.encode(claims.json))"
        guard let signature = pair.signature(of: Array(signed.utf8)) else { return nil }
        return "\(signed).\(Base64URL.encode(signature))"
    }

    /// In seconds. Some servers reject a proof from the future and read a clock that is a few milliseconds late: around the
    /// turn of a second they refuse a proof of the current time (glewlwyd 2.7 with `time()`, on one machine).
    private static let headStart: NumericDate = 1

    /// RFC 9449, section 4.2: `ath`.
    private static func hash(_ token: Secret) -> String { Base64URL.encode(MessageDigest.sha256.of(token)) }
}

extension WebURL {
    /// The target of a proof (`htu`: RFC 9449, section 4.2): without query and fragment; scheme and host in lower case,
    /// without the scheme's default port (RFC 3986, section 6.2.2 and 6.2.3).
    ///
    /// The path is unchanged: servers compare it with their own, and many of them character by character.
    fileprivate var proofTarget: String { origin + (path.isEmpty ? "/" : path) }
}

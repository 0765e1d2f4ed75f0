/// One RSA and one P-256 key, generated when the provider starts and never written to disk.
struct SigningKeys: Sendable {
    private let rsa: SigningKey
    private let ecdsa: SigningKey

    init() throws(KeyFailure) {
        let rsa = try ProviderKey(.rsa)
        let ecdsa = try ProviderKey(.p256)
        self.rsa = SigningKey(
            key: rsa,
            published: PublishedKey(
                kty: "RSA", alg: SigningAlgorithm.rs256.rawValue, kid: "rs-" + randomText().prefix(8),
                n: rsa.number(.n).base64URLText, e: rsa.number(.e).base64URLText))
        self.ecdsa = SigningKey(
            key: ecdsa,
            published: PublishedKey(
                kty: "EC", alg: SigningAlgorithm.es256.rawValue, kid: "es-" + randomText().prefix(8), crv: "P-256",
                x: ecdsa.number(.x).base64URLText, y: ecdsa.number(.y).base64URLText))
    }

    /// The public halves, as published in the JWKS (RFC 7517).
    var published: [PublishedKey] { [rsa.published, ecdsa.published] }

    /// - Parameter type: the `typ` of the header: `JWT`, or `at+jwt` for an access token (RFC 9068, section 2.1).
    func sign(_ claims: [String: JSON], by algorithm: SigningAlgorithm, type: String = "JWT") throws -> String {
        let signer =
            switch algorithm {
            case .rs256: rsa
            case .es256: ecdsa
            }
        let header: [String: JSON] = [
            "alg": .string(signer.published.alg), "kid": .string(signer.published.kid), "typ": .string(type),
        ]
        return try JSONWebToken.sign(claims, header: header, by: signer.key)
    }

    /// The claims of a token signed with one of these keys, expired or not.
    func verifiedClaims(of text: String) -> [String: JSON]? {
        guard let token = JSONWebToken(text), let header = token.header(as: [String: JSON].self),
            let signer = [rsa, ecdsa].first(where: {
                header["kid"]?.string == $0.published.kid && header["alg"]?.string == $0.published.alg
            }), token.isSigned(by: signer.key)
        else { return nil }
        return token.claims(as: [String: JSON].self)
    }
}

private struct SigningKey: Sendable {
    let key: ProviderKey
    let published: PublishedKey
}

struct PublishedKey: Encodable, Sendable {
    var kty: String
    var use = "sig"
    var alg: String
    var kid: String
    var n: String?
    var e: String?
    var crv: String?
    var x: String?
    var y: String?
}

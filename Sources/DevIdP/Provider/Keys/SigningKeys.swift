import Crypto
import CryptoExtras
import FoundationEssentials
import JWTKit

/// One RSA and one P-256 key, generated when the provider starts and never written to disk.
struct SigningKeys: Sendable {
    let collection: JWTKeyCollection
    /// The public half, as published in the JWKS (RFC 7517).
    let published: [PublishedKey]
    private let identifiers: [SigningAlgorithm: String]

    static func generate() async throws -> SigningKeys {
        let rsa = try Insecure.RSA.PrivateKey(backing: _RSA.Signing.PrivateKey(keySize: .bits2048))
        let ecdsa = P256.Signing.PrivateKey()
        let identifiers = [
            SigningAlgorithm.rs256: "rs-" + randomText().prefix(8), .es256: "es-" + randomText().prefix(8),
        ]

        let primitives = try rsa.publicKey.getKeyPrimitives()
        let point = ecdsa.publicKey.rawRepresentation
        let published = [
            PublishedKey(
                kty: "RSA", alg: SigningAlgorithm.rs256.rawValue, kid: identifiers[.rs256] ?? "",
                n: primitives.modulus.base64URLText, e: primitives.publicExponent.base64URLText),
            PublishedKey(
                kty: "EC", alg: SigningAlgorithm.es256.rawValue, kid: identifiers[.es256] ?? "", crv: "P-256",
                x: Data(point.prefix(32)).base64URLText, y: Data(point.suffix(32)).base64URLText),
        ]

        let collection = JWTKeyCollection()
        await collection.add(rsa: rsa, digestAlgorithm: .sha256, kid: published[0].identifier)
        await collection.add(ecdsa: try ES256PrivateKey(backing: ecdsa), kid: published[1].identifier)
        return SigningKeys(collection: collection, published: published, identifiers: identifiers)
    }

    /// - Parameter type: the `typ` of the header: `JWT`, or `at+jwt` for an access token (RFC 9068, section 2.1).
    func sign(_ claims: some JWTPayload, by algorithm: SigningAlgorithm, type: String = "JWT") async throws -> String {
        var header = JWTHeader()
        header.fields["typ"] = .string(type)
        return try await collection.sign(
            claims, kid: identifiers[algorithm].map { JWKIdentifier(string: $0) }, header: header)
    }
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

    var identifier: JWKIdentifier { JWKIdentifier(string: kid) }
}

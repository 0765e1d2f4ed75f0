import BrokerModel
import BrokerValues
import CryptoExtras
import Foundation
import JWTKit

/// A provider's key pair, with its published JWK; makes valid and invalid tokens.
package struct SigningIdentity: Sendable {
    package enum Kind: Sendable, CaseIterable {
        case rs256, rs384, rs512, ps256, ps384, ps512, es256, es384, es512, edDSA
    }

    package let keyID: String?
    package let algorithm: String
    /// The public key as in the JWK set.
    package let jwk: JSONObject
    private let signer: any JWTAlgorithm

    private init(keyID: String?, kty: String, jwk: JSONObject, keys: JWTKeyCollection) async throws {
        signer = try await keys.getKey()
        algorithm = signer.name
        self.keyID = keyID
        var jwk = jwk
        jwk["kty"] = .string(kty)
        jwk["use"] = "sig"
        jwk["alg"] = .string(signer.name)
        jwk["kid"] = keyID.map(JSONValue.string)
        self.jwk = jwk
    }

    /// - Parameter keyID: `nil` makes a key without one, which some providers publish.
    package static func make(_ kind: Kind, keyID: String? = "key-1") async throws -> SigningIdentity {
        let keys = JWTKeyCollection()
        switch kind {
        case .rs256, .rs384, .rs512, .ps256, .ps384, .ps512:
            let key = try Insecure.RSA.PrivateKey(backing: _RSA.Signing.PrivateKey(keySize: .bits2048))
            let numbers = try key.publicKey.getKeyPrimitives()
            switch kind {
            case .rs256: await keys.add(rsa: key, digestAlgorithm: .sha256)
            case .rs384: await keys.add(rsa: key, digestAlgorithm: .sha384)
            case .rs512: await keys.add(rsa: key, digestAlgorithm: .sha512)
            case .ps256: await keys.add(pss: key, digestAlgorithm: .sha256)
            case .ps384: await keys.add(pss: key, digestAlgorithm: .sha384)
            default: await keys.add(pss: key, digestAlgorithm: .sha512)
            }
            return try await SigningIdentity(
                keyID: keyID, kty: "RSA",
                jwk: [
                    "n": .string(Base64URL.encode(numbers.modulus)),
                    "e": .string(Base64URL.encode(numbers.publicExponent)),
                ], keys: keys)
        case .es256:
            let key = ES256PrivateKey()
            await keys.add(ecdsa: key)
            return try await elliptic("P-256", key.publicKey.parameters, keyID, keys)
        case .es384:
            let key = ES384PrivateKey()
            await keys.add(ecdsa: key)
            return try await elliptic("P-384", key.publicKey.parameters, keyID, keys)
        case .es512:
            let key = ES512PrivateKey()
            await keys.add(ecdsa: key)
            return try await elliptic("P-521", key.publicKey.parameters, keyID, keys)
        case .edDSA:
            let key = try EdDSA.PrivateKey()
            await keys.add(eddsa: key)
            return try await SigningIdentity(
                keyID: keyID, kty: "OKP",
                jwk: ["crv": "Ed25519", "x": .string(Base64URL.encode(key.publicKey.rawRepresentation))], keys: keys)
        }
    }

    private static func elliptic(
        _ curve: String, _ point: ECDSAParameters?, _ keyID: String?, _ keys: JWTKeyCollection
    ) async throws -> SigningIdentity {
        func number(_ base64: String?) -> JSONValue {
            .string(Base64URL.encode(base64.flatMap { Data(base64Encoded: $0) } ?? Data()))
        }
        return try await SigningIdentity(
            keyID: keyID, kty: "EC", jwk: ["crv": .string(curve), "x": number(point?.x), "y": number(point?.y)],
            keys: keys)
    }

    /// - Parameter header: fields in addition to `alg`, `typ` and `kid`, or in their place.
    /// - Returns: a token in compact serialization.
    package func sign(_ claims: JSONObject, header: JSONObject = [:]) -> String {
        var fields: JSONObject = ["alg": .string(algorithm), "typ": "JWT"]
        fields["kid"] = keyID.map(JSONValue.string)
        fields.merge(header) { $1 }
        return Self.assemble(fields, claims) { (try? signer.sign(Data($0))) ?? [] }
    }

    /// - Parameter change: modifies the text of header and claims before it is signed.
    package func sign(_ claims: JSONObject, change: (String) -> String) -> String {
        var fields: JSONObject = ["alg": .string(algorithm), "typ": "JWT"]
        fields["kid"] = keyID.map(JSONValue.string)
        let parts = [fields, claims].map { Base64URL.encode(Data(change(Self.text($0)).utf8)) }
        return sign(parts: parts)
    }

    /// - Parameter payload: any bytes.
    package func sign(payload: Data) -> String {
        let fields: JSONObject = ["alg": .string(algorithm), "kid": keyID.map(JSONValue.string) ?? .null]
        return sign(parts: [Base64URL.encode(Data(Self.text(fields).utf8)), Base64URL.encode(payload)])
    }

    private func sign(parts: [String]) -> String {
        let signed = parts.joined(separator: ".")
        return "\(signed).\(Base64URL.encode((try? signer.sign(Data(signed.utf8))) ?? []))"
    }

    private static func text(_ object: JSONObject) -> String {
        String(decoding: (try? JSONEncoder().encode(JSONValue.object(object))) ?? Data(), as: UTF8.self)
    }

    /// Header and claims with any bytes as the signature: for forgeries.
    package static func assemble(
        _ header: JSONObject, _ claims: JSONObject, signature: ([UInt8]) -> [UInt8]
    ) -> String {
        func part(_ object: JSONObject) -> String {
            Base64URL.encode((try? JSONEncoder().encode(JSONValue.object(object))) ?? Data())
        }
        let signed = "\(part(header)).\(part(claims))"
        return "\(signed).\(Base64URL.encode(signature(Array(signed.utf8))))"
    }
}

import BrokerModel
import BrokerValues
import DevIdentityProvider
import Foundation

/// A provider's key pair, with its published JWK; makes valid and invalid tokens.
package struct SigningIdentity: Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        case rs256 = "RS256"
        case rs384 = "RS384"
        case rs512 = "RS512"
        case ps256 = "PS256"
        case ps384 = "PS384"
        case ps512 = "PS512"
        case es256 = "ES256"
        case es384 = "ES384"
        case es512 = "ES512"
        case edDSA = "EdDSA"
    }

    package let keyID: String?
    /// The public key as in the JWK set.
    package let jwk: JSONObject
    private let kind: Kind
    private let key: ProviderKey

    package var algorithm: String { kind.rawValue }

    /// - Parameter keyID: `nil` makes a key without one, which some providers publish.
    package static func make(_ kind: Kind, keyID: String? = "key-1") throws -> SigningIdentity {
        let key = try ProviderKey(kind.keyKind)
        var jwk = kind.description(of: key)
        jwk["use"] = "sig"
        jwk["alg"] = .string(kind.rawValue)
        jwk["kid"] = keyID.map(JSONValue.string)
        return SigningIdentity(keyID: keyID, jwk: jwk, kind: kind, key: key)
    }

    /// - Parameter header: fields in addition to `alg`, `typ` and `kid`, or in their place.
    /// - Returns: a token in compact serialization.
    package func sign(_ claims: JSONObject, header: JSONObject = [:]) -> String {
        var fields: JSONObject = ["alg": .string(algorithm), "typ": "JWT"]
        fields["kid"] = keyID.map(JSONValue.string)
        fields.merge(header) { $1 }
        return Self.assemble(fields, claims, signature: signature(of:))
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
        return "\(signed).\(Base64URL.encode(signature(of: Array(signed.utf8))))"
    }

    private func signature(of bytes: [UInt8]) -> [UInt8] {
        let signature = try? key.signature(of: bytes, digest: kind.digest, isPSS: kind.isPSS)
        return signature.map(Array.init) ?? []
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

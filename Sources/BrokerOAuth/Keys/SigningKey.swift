import BrokerModel
import BrokerValues
import Synchronization

/// A provider's public key (RFC 7517), reduced to the members that verification needs. Private parts, certificates and
/// everything else in the document are not read.
struct SigningKey: Sendable {
    let id: ExactText?
    /// Entra: the issuer whose tokens it signs.
    let issuer: ExactText?
    private let type: String
    private let algorithm: String?
    private let curve: String?
    private let numbers: [String: String]
    private let prepared = CachedKey()

    /// - Returns: `nil` for a value that is not a key, and for a key with another use than signatures.
    init?(_ value: JSONValue) {
        guard let key = value.objectValue, let type = key["kty"]?.stringValue else { return nil }
        if let use = key["use"]?.stringValue, use != "sig" { return nil }
        if let operations = key["key_ops"]?.strings, !operations.contains("verify") { return nil }
        self.type = type
        id = key["kid"]?.exactText
        issuer = key["issuer"]?.exactText
        algorithm = key["alg"]?.stringValue
        curve = key["crv"]?.stringValue
        numbers = ["n", "e", "x", "y"].reduce(into: [:]) { $0[$1] = key[$1]?.stringValue }
    }

    /// The key decides about its use, not the token (RFC 8725, section 3.1).
    func suits(_ asked: SignatureAlgorithm) -> Bool {
        guard type == asked.keyType, algorithm.map({ SignatureAlgorithm(name: $0) == asked }) ?? true
        else { return false }
        return asked.curve == nil || asked.curve == curve
    }

    /// - Returns: false for a wrong signature, and for an invalid key (too short, not on the curve).
    func verifies(_ signature: [UInt8], of signed: [UInt8], with algorithm: SignatureAlgorithm) -> Bool {
        guard suits(algorithm), let key = prepared.key.withLock({ $0 }) ?? publicKey(algorithm),
            key.verifies(signature, of: signed, with: algorithm)
        else { return false }
        prepared.key.withLock { $0 = key }
        return true
    }

    /// Created once for all verifications: creating it takes half as long as a verification. Keys that verified nothing are not kept.
    private final class CachedKey: Sendable {
        let key = Mutex<PublicKey?>(nil)
    }

    private func publicKey(_ algorithm: SignatureAlgorithm) -> PublicKey? {
        switch algorithm.keyType {
        case "RSA":
            guard let modulus = number("n"), let exponent = number("e") else { return nil }
            return PublicKey(modulus: modulus, exponent: exponent)
        case "EC":
            guard let curve = algorithm.curve, let x = number("x"), let y = number("y") else { return nil }
            return PublicKey(curve: curve, x: x, y: y)
        default:
            guard let key = number("x") else { return nil }
            return PublicKey(ed25519: key)
        }
    }

    /// Some providers write plain base64, with padding.
    private func number(_ name: String) -> [UInt8]? {
        numbers[name].flatMap { Base64.decodeLeniently($0.utf8) }
    }
}

/// A JWK set (RFC 7517, section 5).
struct KeySet: Sendable {
    let keys: [SigningKey]

    /// More keys than any provider has: a larger set is truncated, so that a token cannot cost thousands of checks.
    static let largest = 64

    /// - Returns: `nil` if the document is not a key set. Unknown keys are left out (section 5).
    init?(_ document: JSONObject) {
        guard let values = document["keys"]?.arrayValue else { return nil }
        keys = Array(values.lazy.compactMap(SigningKey.init).prefix(Self.largest))
    }

    /// The keys that may have signed a token: those with its key id; all of the type if the token has none
    /// (OpenID Connect Core, section 10.1). Keys without ids match any token.
    func candidates(id: ExactText?, algorithm: SignatureAlgorithm) -> [SigningKey] {
        let suitable = keys.filter { $0.suits(algorithm) }
        guard let id else { return suitable }
        let named = suitable.filter { $0.id == id }
        return named.isEmpty ? suitable.filter { $0.id == nil } : named
    }
}

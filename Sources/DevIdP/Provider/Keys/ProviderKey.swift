import CProviderKeys
import FoundationEssentials

/// A key pair, or a public key, as OpenSSL holds it.
///
/// `@unchecked Sendable`: it is a C pointer, but the key does not change after its creation, and several threads may sign and
/// verify with it (openssl-threads(7)).
package final class ProviderKey: @unchecked Sendable {
    /// Under OpenSSL's names.
    package enum Kind: String, Sendable {
        /// With 2,048 bits.
        case rsa = "RSA"
        case p256 = "P-256"
        case p384 = "P-384"
        case p521 = "P-521"
        case ed25519 = "ED25519"
    }

    /// The numbers of a JWK: `n` and `e` of RSA; `x`, `y` and the private `d` of a curve.
    package enum Member: Sendable { case n, e, x, y, d }

    private let key: OpaquePointer

    /// Generates a pair.
    package init(_ kind: Kind) throws(KeyFailure) {
        guard let key = provider_key_generate(kind.rawValue) else { throw KeyFailure("make a key of \(kind.rawValue)") }
        self.key = key
    }

    /// A public key of P-256 (RFC 7518, section 6.2.1).
    ///
    /// - Returns: `nil` for a point that is not on the curve, and unless both numbers have 32 bytes.
    package init?(p256 x: Data, _ y: Data) {
        guard x.count == 32, y.count == 32, let key = provider_key_p256([UInt8](x + y)) else { return nil }
        self.key = key
    }

    deinit { provider_key_free(key) }

    /// - Returns: empty if this kind of key has no such member.
    package func number(_ member: Member) -> Data {
        let number =
            switch member {
            case .n: provider_n
            case .e: provider_e
            case .x: provider_x
            case .y: provider_y
            case .d: provider_d
            }
        return Data.filled { provider_key_number(key, number, $0) }
    }

    /// - Parameters:
    ///   - digest: `nil` for Ed25519, which has its own.
    ///   - isPSS: otherwise RSA signs with PKCS#1 v1.5.
    /// - Returns: what a JWS contains: of a curve, r and s in full length (RFC 7518, section 3.4).
    package func signature(
        of message: some Sequence<UInt8>, digest: Digest? = .sha256, isPSS: Bool = false
    ) throws(KeyFailure) -> Data {
        let signature = withOctets(of: message) { message in
            Data.filled { provider_sign(key, digest?.rawValue, isPSS, message, $0) }
        }
        guard !signature.isEmpty else { throw KeyFailure("sign") }
        return signature
    }

    /// Only with SHA-256, which is all that this provider accepts.
    package func verifies(_ signature: Data, of message: some Sequence<UInt8>) -> Bool {
        withOctets(of: signature) { signature in
            withOctets(of: message) { message in
                provider_signature_is_valid(key, Digest.sha256.rawValue, signature, message)
            }
        }
    }
}

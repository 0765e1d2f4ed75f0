import CSignatures

/// A public key as OpenSSL holds it.
///
/// `@unchecked Sendable`: it is a C pointer, but the key does not change after its creation, and several threads may verify
/// with it (openssl-threads(7)).
final class PublicKey: @unchecked Sendable {
    private let key: OpaquePointer

    /// RSA (RFC 7518, section 6.3.1).
    ///
    /// - Returns: `nil` below 2,048 and above 8,192 bits.
    convenience init?(modulus: [UInt8], exponent: [UInt8]) {
        self.init(modulus.withOctets { n in exponent.withOctets { e in broker_rsa_key(n, e) } })
    }

    /// A curve's point (RFC 7518, section 6.2.1).
    ///
    /// - Parameter curve: `P-256`, `P-384` or `P-521`.
    /// - Returns: `nil` for a point that is not on the curve.
    convenience init?(curve: String, x: [UInt8], y: [UInt8]) {
        self.init(x.withOctets { x in y.withOctets { y in broker_ec_key(curve, x, y) } })
    }

    /// RFC 8037, section 2.
    convenience init?(ed25519 key: [UInt8]) {
        self.init(key.withOctets { broker_ed25519_key($0) })
    }

    private init?(_ key: OpaquePointer?) {
        guard let key else { return nil }
        self.key = key
    }

    deinit { broker_key_free(key) }

    func verifies(_ signature: [UInt8], of signed: [UInt8], with algorithm: SignatureAlgorithm) -> Bool {
        signature.withOctets { signature in
            signed.withOctets { signed in
                broker_signature_is_valid(key, algorithm.digest?.rawValue, algorithm.isPSS, signature, signed)
            }
        }
    }
}

extension [UInt8] {
    func withOctets<Result>(_ body: (broker_octets) -> Result) -> Result {
        withUnsafeBytes { body(broker_octets($0)) }
    }
}

extension broker_octets {
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(bytes: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), count: bytes.count)
    }
}

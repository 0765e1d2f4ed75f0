import BrokerModel
import CSignatures

/// A key pair that signs with ES256 (RFC 7518, section 3.4). OpenSSL holds the private key during this value's lifetime and then
/// wipes it.
struct P256KeyPair: ~Copyable {
    private let key: OpaquePointer
    let publicKey: PublicKeyJWK

    /// - Parameter privateKey: 32 bytes, the most significant first.
    /// - Returns: `nil` for 0 and for numbers not below the curve's order.
    init?(_ privateKey: Secret) {
        guard privateKey.count == 32 else { return nil }
        var made: OpaquePointer?
        let point = [UInt8](unsafeUninitializedCapacity: 64) { point, count in
            made = privateKey.withBytes {
                broker_p256_pair($0.baseAddress?.assumingMemoryBound(to: UInt8.self), point.baseAddress)
            }
            count = made == nil ? 0 : 64
        }
        guard let made else { return nil }
        key = made
        publicKey = PublicKeyJWK(x: point.prefix(32), y: point.suffix(32))
    }

    deinit { broker_key_free(key) }

    /// - Returns: 64 bytes.
    func signature(of message: [UInt8]) -> [UInt8]? {
        var isSigned = false
        let signature = [UInt8](unsafeUninitializedCapacity: 64) { signature, count in
            isSigned = message.withOctets { broker_es256_sign(key, $0, signature.baseAddress) }
            count = isSigned ? 64 : 0
        }
        return isSigned ? signature : nil
    }
}

import BrokerModel
import CSignatures

/// SHA-2 (FIPS 180-4), under OpenSSL's names.
enum MessageDigest: String, Sendable {
    case sha256 = "SHA2-256"
    case sha384 = "SHA2-384"
    case sha512 = "SHA2-512"

    /// ``SignatureLibrary/check()`` ensures this at startup.
    var isThere: Bool {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64) { octets in
            broker_digest(rawValue, broker_octets(), octets.baseAddress) > 0
        }
    }

    func of(_ message: [UInt8]) -> [UInt8] { message.withUnsafeBytes(of) }

    func of(_ secret: Secret) -> [UInt8] { secret.withBytes { of($0) } }

    private func of(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 64) { octets, count in
            count = broker_digest(rawValue, broker_octets(bytes), octets.baseAddress)
            precondition(count > 0, "OpenSSL has no \(rawValue)")
        }
    }
}

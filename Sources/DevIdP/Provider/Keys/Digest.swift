import CProviderKeys
import FoundationEssentials

/// SHA-2 (FIPS 180-4), under OpenSSL's names.
package enum Digest: String, Sendable {
    case sha256 = "SHA2-256"
    case sha384 = "SHA2-384"
    case sha512 = "SHA2-512"

    /// OpenSSL's configuration may disable digests: this must be called before ``of(_:)``.
    package func check() throws(KeyFailure) {
        if computed([]).isEmpty { throw KeyFailure("compute \(rawValue)") }
    }

    package func of(_ message: some Sequence<UInt8>) -> Data {
        let digest = computed(message)
        // An empty one would be equal to any other.
        precondition(!digest.isEmpty, "OpenSSL has no \(rawValue)")
        return digest
    }

    private func computed(_ message: some Sequence<UInt8>) -> Data {
        withOctets(of: message) { message in Data.filled { provider_digest(rawValue, message, $0) } }
    }
}

func withOctets<Result>(of bytes: some Sequence<UInt8>, _ body: (provider_octets) -> Result) -> Result {
    [UInt8](bytes).withUnsafeBufferPointer { body(provider_octets(bytes: $0.baseAddress, count: $0.count)) }
}

extension Data {
    /// - Parameter write: writes at most `provider_capacity` bytes and returns their number.
    static func filled(_ write: (UnsafeMutablePointer<UInt8>?) -> Int) -> Data {
        Data(
            [UInt8](unsafeUninitializedCapacity: Int(provider_capacity)) { bytes, count in
                count = write(bytes.baseAddress)
            })
    }
}

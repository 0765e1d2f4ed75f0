import CSodium

/// BLAKE2b (RFC 7693) without a key.
package enum Blake2b {
    /// - Parameter length: of the hash, 16 to 64 bytes.
    package static func hash(_ bytes: [UInt8], length: Int) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: length)
        _ = crypto_generichash(&digest, digest.count, bytes, UInt64(bytes.count), nil, 0)
        return digest
    }
}

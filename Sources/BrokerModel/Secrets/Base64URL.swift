import CSodium

/// RFC 4648, section 5, without padding: the alphabet of JOSE, PKCE and of everything random that travels in a URL.
package enum Base64URL {
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        let bytes = Array(bytes)
        let capacity = sodium_base64_encoded_len(bytes.count, sodium_base64_VARIANT_URLSAFE_NO_PADDING)
        return String(unsafeUninitializedCapacity: capacity) { buffer in
            buffer.withMemoryRebound(to: CChar.self) { text in
                _ = sodium_bin2base64(
                    text.baseAddress, capacity, bytes, bytes.count, sodium_base64_VARIANT_URLSAFE_NO_PADDING)
            }
            return capacity - 1
        }
    }
}

import CSodium

/// RFC 4648 by libsodium, whose timing does not depend on its input: secrets are encoded here.
///
/// Section 5, without padding: the alphabet of JOSE, PKCE and of all random values in a URL.
package enum Base64URL {
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        Sodium.encode(Array(bytes), sodium_base64_VARIANT_URLSAFE_NO_PADDING)
    }

    /// As in JOSE (RFC 7515, section 2).
    ///
    /// - Returns: nil for any other character, for padding, and for leftover bits: each value has one encoding.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        Sodium.decode(Array(text), sodium_base64_VARIANT_URLSAFE_NO_PADDING)
    }
}

/// RFC 4648, section 4, with padding; see ``Base64URL``.
package enum Base64 {
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        Sodium.encode(Array(bytes), sodium_base64_VARIANT_ORIGINAL)
    }

    /// From one guarded buffer into another.
    package static func encode(_ secret: Secret, prefix: String) -> Secret {
        let variant = sodium_base64_VARIANT_ORIGINAL
        let start = prefix.utf8.count
        // libsodium ends its text with a NUL, which is not part of ours: so it is first written to another secret.
        let text = Secret(count: sodium_base64_encoded_len(secret.count, variant)) { buffer in
            secret.withBytes { Sodium.encode($0, into: buffer, variant) }
        }
        return text.withBytes { encoded in
            Secret(count: start + encoded.count - 1) { buffer in
                buffer.copyBytes(from: prefix.utf8)
                UnsafeMutableRawBufferPointer(rebasing: buffer[start...])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: encoded.dropLast()))
            }
        }
    }

    /// - Returns: nil for any other character, for missing padding, and for leftover bits.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        Sodium.decode(Array(text), sodium_base64_VARIANT_ORIGINAL)
    }

    /// Either alphabet, padded or not: senders differ.
    ///
    /// - Returns: nil for any other character, and for leftover bits.
    package static func decodeLeniently(_ text: some Collection<UInt8>) -> [UInt8]? {
        var bytes = text.map {
            $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0
        }
        while bytes.last == UInt8(ascii: "=") { bytes.removeLast() }
        return Base64URL.decode(bytes)
    }
}

private enum Sodium {
    static func encode(_ bytes: [UInt8], _ variant: Int32) -> String {
        let capacity = sodium_base64_encoded_len(bytes.count, variant)
        return String(unsafeUninitializedCapacity: capacity) { buffer in
            bytes.withUnsafeBytes { encode($0, into: UnsafeMutableRawBufferPointer(buffer), variant) }
            return capacity - 1
        }
    }

    /// - Parameter buffer: includes the NUL at the end, so it is never empty.
    static func encode(_ bytes: UnsafeRawBufferPointer, into buffer: UnsafeMutableRawBufferPointer, _ variant: Int32) {
        guard let text = buffer.bindMemory(to: CChar.self).baseAddress else { return }
        let bytes = bytes.bindMemory(to: UInt8.self)
        _ = sodium_bin2base64(text, buffer.count, bytes.baseAddress, bytes.count, variant)
    }

    static func decode(_ text: [UInt8], _ variant: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: text.count)
        var count = 0
        let isValid = text.withUnsafeBytes { text in
            bytes.withUnsafeMutableBufferPointer { bytes in
                guard let start = bytes.baseAddress else { return true }
                return sodium_base642bin(
                    start, bytes.count, text.bindMemory(to: CChar.self).baseAddress, text.count, nil, &count, nil,
                    variant
                ) == 0
            }
        }
        return isValid ? Array(bytes.prefix(count)) : nil
    }
}

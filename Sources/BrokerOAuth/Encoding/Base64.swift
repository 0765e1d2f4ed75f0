import BrokerModel

enum Base64 {
    /// The standard alphabet with padding (RFC 4648, section 4), from one guarded buffer into another.
    static func encode(_ secret: Secret, prefix: String) -> Secret {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        let padding = UInt8(ascii: "=")
        return secret.withBytes { bytes in
            Secret(count: prefix.utf8.count + (bytes.count + 2) / 3 * 4) { buffer in
                buffer.copyBytes(from: prefix.utf8)
                var out = prefix.utf8.count
                for start in stride(from: 0, to: bytes.count, by: 3) {
                    let left = bytes.count - start
                    let second = left > 1 ? bytes[start + 1] : 0
                    let third = left > 2 ? bytes[start + 2] : 0
                    let word = UInt32(bytes[start]) << 16 | UInt32(second) << 8 | UInt32(third)
                    buffer[out] = alphabet[Int(word >> 18)]
                    buffer[out + 1] = alphabet[Int(word >> 12 & 63)]
                    buffer[out + 2] = left > 1 ? alphabet[Int(word >> 6 & 63)] : padding
                    buffer[out + 3] = left > 2 ? alphabet[Int(word & 63)] : padding
                    out += 4
                }
            }
        }
    }

    /// RFC 4648, section 5, without padding, as JOSE has it (RFC 7515, section 2).
    ///
    /// - Returns: nil for any other character, for padding, and for bits left over: one value has one spelling.
    static func decodeURL(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(text.count * 3 / 4)
        var word: UInt32 = 0
        var bits = 0
        for byte in text {
            guard let value = urlValue(byte) else { return nil }
            word = (word << 6 | UInt32(value)) & 0xffff
            bits += 6
            if bits >= 8 {
                bits -= 8
                result.append(UInt8(truncatingIfNeeded: word >> UInt32(bits)))
            }
        }
        return word & ((1 << UInt32(bits)) - 1) == 0 ? result : nil
    }

    private static func urlValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}

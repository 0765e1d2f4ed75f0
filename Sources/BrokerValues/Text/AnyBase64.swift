/// Decodes base64 in either alphabet, padded or not (RFC 4648, sections 4 and 5). It is not for secrets, because its time depends
/// on the bytes.
///
/// - Returns: `nil` for any other character, and for an impossible length.
package func bytesOfAnyBase64(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var (bits, count) = (0, 0)
    for character in text.utf8.reversed().drop(while: { $0 == UInt8(ascii: "=") }).reversed() {
        guard let value = sextet(character) else { return nil }
        bits = bits << 6 | value
        count += 6
        guard count >= 8 else { continue }
        count -= 8
        bytes.append(UInt8(bits >> count))
        bits &= (1 << count) - 1
    }
    // A single character is less than a byte.
    return count == 6 ? nil : bytes
}

private func sextet(_ character: UInt8) -> Int? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(character - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(character - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(character - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
    case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
    default: nil
    }
}

/// Encodes bytes in base64 with padding (RFC 4648, section 4). It is not for secrets, because its time depends on the bytes.
package func base64Text(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
        let part = bytes[start..<min(start + 3, bytes.count)]
        let bits = part.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - part.count))
        for place in 0..<4 {
            text.append(place > part.count ? UInt8(ascii: "=") : alphabet[bits >> (18 - 6 * place) & 63])
        }
    }
    return String(decoding: text, as: UTF8.self)
}

private let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

extension [UInt8] {
    /// Two lowercase hexadecimal digits per byte.
    var hexadecimal: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }

    /// - Returns: nil unless the text has two hexadecimal digits per byte.
    init?(hexadecimal text: Substring) {
        let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
        self = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes as C expects them. Without memory this traps: stopping is right, skipping a step of cryptography is not.
    var octets: UnsafePointer<UInt8> {
        guard let baseAddress else { preconditionFailure("a buffer without memory was handed to libsodium") }
        return baseAddress.assumingMemoryBound(to: UInt8.self)
    }

    var characters: UnsafePointer<CChar> { UnsafeRawPointer(octets).assumingMemoryBound(to: CChar.self) }
}

extension UnsafeMutableRawBufferPointer {
    /// See `UnsafeRawBufferPointer.octets`.
    var octets: UnsafeMutablePointer<UInt8> { UnsafeMutablePointer(mutating: UnsafeRawBufferPointer(self).octets) }

    var characters: UnsafeMutablePointer<CChar> {
        UnsafeMutableRawPointer(octets).assumingMemoryBound(to: CChar.self)
    }
}

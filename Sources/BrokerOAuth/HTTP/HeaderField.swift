/// One field line of a response's header (RFC 9110, section 5).
package struct HeaderField: Equatable {
    /// In lower case.
    package let name: String
    package let value: String

    /// - Returns: `nil` for text that is not a field, and for a field with non-ASCII text, which no field that the broker
    ///   reads contains: such text is not even compared.
    package init?(_ line: UnsafeRawBufferPointer) {
        func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0a, 0x0d].contains(byte) }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0,
            line[..<colon].allSatisfy({ (0x21...0x7e).contains($0) })
        else { return nil }
        let value = line[(colon + 1)...].drop(while: isBlank)
        let end = value.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? value.startIndex
        guard value[..<end].allSatisfy({ (0x20...0x7e).contains($0) || $0 == 0x09 }) else { return nil }
        name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
        self.value = String(decoding: value[..<end], as: UTF8.self)
    }
}

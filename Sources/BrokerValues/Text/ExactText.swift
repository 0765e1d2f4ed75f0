/// Text that the protocols compare byte by byte: issuers, subjects, audiences, nonces (RFC 7519, section 2), and what is filed
/// under them.
///
/// Swift's `==` takes canonically equivalent strings for equal: the Kelvin sign for a K, an accented letter for a letter with an
/// accent. A provider could let one person pass for another that way.
package struct ExactText: Sendable, Hashable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (left: ExactText, right: ExactText) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // No text has this byte, so that the next one hashed begins anew.
        hasher.combine(UInt8.max)
    }
}

extension ExactText: ExpressibleByStringInterpolation {
    package init(stringLiteral text: String) { self.init(text) }
}

extension JSONValue {
    /// For what is compared with another text of the protocol.
    package var exactText: ExactText? { stringValue.map { ExactText($0) } }
}

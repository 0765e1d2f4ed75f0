import Glibc

/// Text that the protocols compare byte by byte: issuers, subjects, audiences, nonces (RFC 7519, section 2), and keys derived
/// from them.
///
/// Swift's `==` treats canonically equivalent strings as equal: the Kelvin sign and K, a precomposed and a decomposed accented
/// letter. A provider could make one user pass for another that way.
package struct ExactText: Sendable, Hashable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (left: ExactText, right: ExactText) -> Bool {
        let (left, right) = (left.text.utf8, right.text.utf8)
        guard left.count == right.count else { return false }
        // A lookup in the cache compares several hundred bytes: as blocks, if the texts are stored that way.
        let isSame = left.withContiguousStorageIfAvailable { left in
            right.withContiguousStorageIfAvailable { right in
                guard let start = left.baseAddress, let other = right.baseAddress else { return true }
                return memcmp(start, other, left.count) == 0
            }
        }
        return isSame.flatMap { $0 } ?? left.elementsEqual(right)
    }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // No text contains this byte, so that it separates hashed texts.
        hasher.combine(UInt8.max)
    }
}

extension ExactText: ExpressibleByStringInterpolation {
    package init(stringLiteral text: String) { self.init(text) }
}

extension String {
    /// Whether it has the same bytes: for client ids and other plain strings that are compared as in ``ExactText``.
    package func isExactly(_ other: String) -> Bool { ExactText(self) == ExactText(other) }
}

extension JSONValue {
    /// The string for comparison with another text of the protocol; `nil` for another kind of value.
    package var exactText: ExactText? { stringValue.map { ExactText($0) } }
}

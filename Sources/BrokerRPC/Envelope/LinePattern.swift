import Glibc

/// A request's line but for its id: a client that asks the same again sends the same bytes with another number in them.
package struct LinePattern: Sendable {
    /// Longer ones are rare, and not worth the memory.
    package static let longest = 1_024
    /// Digits; a longer number might not come back as it was sent.
    private static let longestID = 15

    private let bytes: [UInt8]
    /// Where the id stood.
    private let id: Range<Int>

    /// - Parameters:
    ///   - line: a well-formed request.
    ///   - id: where its id stands.
    /// - Returns: nil unless the id is a whole number as ``id(in:)`` finds it.
    package init?(_ line: ArraySlice<UInt8>, id: Range<Int>) {
        guard line.count <= Self.longest else { return nil }
        bytes = Array(line)
        self.id = id
        guard Self.isNumber(bytes[id]) else { return nil }
    }

    /// The id of a line that is the same but for that. Where the number stood there is a number again, so it is a well-formed request,
    /// and says the same.
    package func id(in line: ArraySlice<UInt8>) -> RequestID? {
        let length = id.count + line.count - bytes.count
        guard (1...Self.longestID).contains(length) else { return nil }
        let start = line.startIndex + id.lowerBound
        let number = line[start..<start + length]
        guard Self.areEqual(line[..<start], bytes[..<id.lowerBound]),
            Self.areEqual(line[(start + length)...], bytes[id.upperBound...]), Self.isNumber(number)
        else { return nil }
        return RequestID(digits: number)
    }

    private static func areEqual(_ one: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> Bool {
        one.withUnsafeBytes { one in
            other.withUnsafeBytes { other in
                guard one.count == other.count else { return false }
                guard let start = one.baseAddress, let otherStart = other.baseAddress else { return one.isEmpty }
                return memcmp(start, otherStart, one.count) == 0
            }
        }
    }

    /// Digits without a zero in front (RFC 8259, section 6).
    private static func isNumber(_ text: ArraySlice<UInt8>) -> Bool {
        (1...longestID).contains(text.count) && text.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            && (text.first != UInt8(ascii: "0") || text.count == 1)
    }
}

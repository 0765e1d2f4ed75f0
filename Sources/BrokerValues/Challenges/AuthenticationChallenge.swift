/// One challenge of a `WWW-Authenticate` header (RFC 9110, section 11.6.1). Unambiguous mistakes of servers are tolerated:
/// missing or extra commas, values without quotation marks, a line end between two headers. Pure, and linear in time.
package struct AuthenticationChallenge: Sendable, Equatable {
    package var scheme: String
    /// The text instead of parameters (`token68`; RFC 9110, section 11.2).
    package var token68: String?
    package var parameters: [Parameter] = []

    package struct Parameter: Sendable, Equatable {
        package var name: String
        package var value: String
    }

    /// The header cannot be parsed.
    package struct Malformed: Error, Equatable {
        /// The rest of the header, from the place where parsing stops.
        package var rest: String
    }

    package static let most = 32
    package static let maximumParameters = 64

    /// The first parameter of the name, compared case-insensitively.
    package subscript(name: String) -> String? {
        parameters.first { $0.name.lowercased() == name }?.value
    }

    /// - Parameter header: the value of one header, or the values of several separated by commas.
    package static func read(_ header: String) throws(Malformed) -> [AuthenticationChallenge] {
        var reader = Reader(bytes: Array(header.utf8))
        var challenges: [AuthenticationChallenge] = []
        while true {
            reader.skip { Reader.isBlank($0) || $0 == UInt8(ascii: ",") }
            guard !reader.isAtEnd else { return challenges }
            let start = reader.place
            guard let word = reader.token() else { throw reader.malformed(at: start) }
            let end = reader.place
            reader.skip(Reader.isBlank)
            if reader.take(UInt8(ascii: "=")) {
                // A parameter of the previous challenge.
                reader.skip(Reader.isBlank)
                guard let last = challenges.indices.last, challenges[last].token68 == nil,
                    challenges[last].parameters.count < maximumParameters, let value = reader.value()
                else { throw reader.malformed(at: start) }
                challenges[last].parameters.append(Parameter(name: word, value: value))
            } else {
                guard challenges.count < most, reader.place > end || reader.isAtEnd || reader.isAtComma else {
                    throw reader.malformed(at: start)
                }
                challenges.append(AuthenticationChallenge(scheme: word, token68: reader.token68()))
            }
        }
    }
}

private struct Reader {
    let bytes: [UInt8]
    private(set) var place = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { place == bytes.count }
    var isAtComma: Bool { !isAtEnd && bytes[place] == UInt8(ascii: ",") }

    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    func malformed(at start: Int) -> AuthenticationChallenge.Malformed { .init(rest: text(start..<bytes.count)) }

    mutating func skip(_ matches: (UInt8) -> Bool) { while !isAtEnd, matches(bytes[place]) { place += 1 } }

    mutating func take(_ byte: UInt8) -> Bool {
        guard !isAtEnd, bytes[place] == byte else { return false }
        place += 1
        return true
    }

    /// A token (RFC 9110, section 5.6.2); `nil` if there is none.
    mutating func token() -> String? {
        let start = place
        skip { $0.isASCIILetterOrDigit || Self.marks.contains($0) }
        return place > start ? text(start..<place) : nil
    }

    /// The text up to the next comma, if it is one word and not a parameter. Otherwise it stays unread.
    mutating func token68() -> String? {
        let start = place
        skip { $0.isASCIILetterOrDigit || Self.marks68.contains($0) }
        skip { $0 == UInt8(ascii: "=") }
        let end = place
        skip(Self.isBlank)
        if end > start, isAtEnd || isAtComma { return text(start..<end) }
        place = start
        return nil
    }

    /// A quoted string, or a word without quotation marks.
    mutating func value() -> String? {
        guard take(UInt8(ascii: "\"")) else {
            let start = place
            skip { !Self.isBlank($0) && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "\"") && $0 > 0x20 && $0 != 0x7F }
            return text(start..<place)
        }
        var value: [UInt8] = []
        while !isAtEnd {
            var byte = bytes[place]
            place += 1
            if byte == UInt8(ascii: "\"") { return String(decoding: value, as: UTF8.self) }
            if byte == UInt8(ascii: "\\") {
                guard !isAtEnd else { return nil }
                byte = bytes[place]
                place += 1
            }
            guard byte >= 0x20 || byte == 0x09, byte != 0x7F else { return nil }
            value.append(byte)
        }
        return nil
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    private static let marks = Set("!#$%&'*+-.^_`|~".utf8)
    private static let marks68 = Set("-._~+/".utf8)
}

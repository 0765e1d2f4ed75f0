/// Reads one JSON text (RFC 8259), strictly and within bounds: all input from outside is read here, and takes time in proportion
/// to its length, both now and in later comparisons.
///
/// It takes the place of Foundation's decoder, because an `id` is returned exactly as it was sent (numbers keep their text),
/// invalid JSON is refused even in unused values, nothing is parsed twice, and a request is read in a sixth of the time (decision
/// 2). Tests/Fuzzing compares its verdicts and values with Foundation's.
package struct JSONReader {
    /// The text is not JSON, or exceeds the bounds.
    package struct Malformed: Error, Sendable, Equatable {
        /// The place of the problem, in bytes from the start.
        package let offset: Int
        package let problem: Problem
    }

    package enum Problem: String, Sendable {
        case unexpectedByte = "an unexpected character"
        case unexpectedEnd = "the text ends too early"
        case trailingBytes = "something follows the JSON value"
        case controlCharacter = "a control character inside a string"
        case badEscape = "an unknown escape inside a string"
        case loneSurrogate = "half of a surrogate pair inside a string"
        case invalidUTF8 = "bytes that are not UTF-8"
        case badNumber = "a number JSON does not allow"
        case tooDeep = "too many levels of nesting"
        case tooMany = "too many values"
        case notStreamSafe = "too many combining marks on one character"
        case nameTwice = "a name that is given twice"
        case notAnObject = "another value than an object"
    }

    /// Whether an object may have a name twice; all members are kept then.
    package enum Names: Sendable {
        case mayRepeat
        case areUnique
    }

    package struct Bounds: Sendable {
        /// The levels of nested arrays and objects: enough for any message, and far below a thread's stack limit.
        package let depth: Int
        /// The number of values of all kinds in one text: they take more memory than their text.
        package let values: Int
        /// Whether text must be stream-safe.
        package let boundsMarks: Bool

        /// The bounds for text from outside.
        package static let outside = Bounds(depth: 64, values: 1 << 16, boundsMarks: true)
        /// The bounds for the broker's own output, which contains input from outside.
        package static let own = Bounds(depth: 2 * outside.depth, values: .max, boundsMarks: false)
    }

    private let bytes: UnsafeRawBufferPointer
    private let names: Names
    private let bounds: Bounds
    private var position = 0
    private var depth = 0
    private var values = 0

    private init(_ bytes: UnsafeRawBufferPointer, _ names: Names, _ bounds: Bounds) {
        self.bytes = bytes
        self.names = names
        self.bounds = bounds
    }

    /// Reads the whole text: white space around the value is allowed, nothing else is.
    package static func read(
        _ bytes: UnsafeRawBufferPointer, names: Names = .mayRepeat, within bounds: Bounds = .outside
    ) throws(Malformed) -> JSONNode {
        var reader = JSONReader(bytes, names, bounds)
        reader.skipWhiteSpace()
        let value = try reader.value()
        reader.skipWhiteSpace()
        guard reader.position == bytes.count else { throw reader.failure(.trailingBytes) }
        return value
    }

    package static func read(
        _ text: some Collection<UInt8>, names: Names = .mayRepeat
    ) throws(Malformed) -> JSONNode {
        let result: Result<JSONNode, Malformed> = Array(text).withUnsafeBytes { bytes in
            do throws(Malformed) { return .success(try read(bytes, names: names)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    // MARK: Values

    private mutating func value() throws(Malformed) -> JSONNode {
        values += 1
        guard values <= bounds.values else { throw failure(.tooMany) }
        switch try peek() {
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "{"): return try object()
        case UInt8(ascii: "["): return try array()
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func object() throws(Malformed) -> JSONNode {
        try open()
        var members: [JSONMember] = []
        if try closes(with: UInt8(ascii: "}")) { return .object(members) }
        members.reserveCapacity(4)
        var seen: Set<String> = []
        while true {
            guard try peek() == UInt8(ascii: "\"") else { throw failure(.unexpectedByte) }
            let nameStart = position
            let name = try string()
            if names == .areUnique, !seen.insert(name).inserted {
                throw Malformed(offset: nameStart, problem: .nameTwice)
            }
            skipWhiteSpace()
            try expect(UInt8(ascii: ":"))
            skipWhiteSpace()
            let start = position
            let value = try value()
            members.append(JSONMember(name: name, value: value, range: start..<position))
            if try !another(before: UInt8(ascii: "}")) { return .object(members) }
        }
    }

    private mutating func array() throws(Malformed) -> JSONNode {
        try open()
        var elements: [JSONNode] = []
        if try closes(with: UInt8(ascii: "]")) { return .array(elements) }
        while true {
            elements.append(try value())
            if try !another(before: UInt8(ascii: "]")) { return .array(elements) }
        }
    }

    private mutating func open() throws(Malformed) {
        guard depth < bounds.depth else { throw failure(.tooDeep) }
        depth += 1
        position += 1
        skipWhiteSpace()
    }

    private mutating func closes(with end: UInt8) throws(Malformed) -> Bool {
        guard try peek() == end else { return false }
        position += 1
        depth -= 1
        return true
    }

    /// After an element: a comma and another one, or the end.
    private mutating func another(before end: UInt8) throws(Malformed) -> Bool {
        skipWhiteSpace()
        if try closes(with: end) { return false }
        try expect(UInt8(ascii: ","))
        skipWhiteSpace()
        return true
    }

    private mutating func literal(_ text: StaticString, _ value: JSONNode) throws(Malformed) -> JSONNode {
        for offset in 0..<text.utf8CodeUnitCount { try expect(text.utf8Start[offset]) }
        return value
    }

    // MARK: Numbers

    private mutating func number() throws(Malformed) -> String {
        let start = position
        if position < bytes.count, bytes[position] == UInt8(ascii: "-") { position += 1 }
        if position < bytes.count, bytes[position] == UInt8(ascii: "0") {
            position += 1
        } else {
            try digits(orElse: position == start ? .unexpectedByte : .badNumber)
        }
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            position += 1
            try digits(orElse: .badNumber)
        }
        if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            if position < bytes.count, bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-") {
                position += 1
            }
            try digits(orElse: .badNumber)
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func digits(orElse problem: Problem) throws(Malformed) {
        let start = position
        while position < bytes.count, bytes[position] &- UInt8(ascii: "0") < 10 { position += 1 }
        guard position > start else { throw failure(problem) }
    }

    // MARK: Strings

    private mutating func string() throws(Malformed) -> String {
        position += 1
        let start = position
        var seen: UInt8 = 0
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                let utf8 = UnsafeRawBufferPointer(rebasing: bytes[start..<position])
                position += 1
                // ASCII needs no validation, and this way is quicker.
                return seen < 0x80 ? String(decoding: utf8, as: UTF8.self) : try text(utf8, at: start)
            case UInt8(ascii: "\\"):
                return try escapedString(from: start)
            case 0..<0x20:
                throw failure(.controlCharacter)
            default:
                seen |= byte
                position += 1
            }
        }
        throw failure(.unexpectedEnd)
    }

    private mutating func escapedString(from start: Int) throws(Malformed) -> String {
        var unescaped = Array(bytes[start..<position])
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return try text(unescaped, at: start)
            case UInt8(ascii: "\\"):
                position += 1
                unescaped.append(contentsOf: UTF8.encode(try escape()) ?? UTF8.encodedReplacementCharacter)
            case 0..<0x20:
                throw failure(.controlCharacter)
            default:
                unescaped.append(byte)
                position += 1
            }
        }
        throw failure(.unexpectedEnd)
    }

    private func text(_ utf8: some Sequence<UInt8>, at start: Int) throws(Malformed) -> String {
        guard let text = String(validating: utf8, as: UTF8.self) else {
            throw Malformed(offset: start, problem: .invalidUTF8)
        }
        guard !bounds.boundsMarks || text.isStreamSafe else { throw Malformed(offset: start, problem: .notStreamSafe) }
        return text
    }

    /// The escape sequence after a backslash.
    private mutating func escape() throws(Malformed) -> Unicode.Scalar {
        let byte = try peek()
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape()
        default:
            position -= 1
            throw failure(.badEscape)
        }
    }

    private mutating func unicodeEscape() throws(Malformed) -> Unicode.Scalar {
        let first = try fourHexDigits()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xdc00, position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
            bytes[position + 1] == UInt8(ascii: "u")
        else { throw failure(.loneSurrogate) }
        position += 2
        let second = try fourHexDigits()
        guard (0xdc00..<0xe000).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (UInt32(first) - 0xd800) << 10 + (UInt32(second) - 0xdc00))
        else { throw failure(.loneSurrogate) }
        return scalar
    }

    private mutating func fourHexDigits() throws(Malformed) -> UInt16 {
        var result: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = PercentEncoding.hexValue(try peek()) else { throw failure(.badEscape) }
            result = result << 4 | UInt16(digit)
            position += 1
        }
        return result
    }

    // MARK: Bytes

    private mutating func skipWhiteSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x0a, 0x0d, 0x09: position += 1
            default: return
            }
        }
    }

    private func peek() throws(Malformed) -> UInt8 {
        guard position < bytes.count else { throw failure(.unexpectedEnd) }
        return bytes[position]
    }

    private mutating func expect(_ byte: UInt8) throws(Malformed) {
        guard try peek() == byte else { throw failure(.unexpectedByte) }
        position += 1
    }

    private func failure(_ problem: Problem) -> Malformed {
        Malformed(offset: position, problem: position < bytes.count || problem.isBound ? problem : .unexpectedEnd)
    }
}

extension JSONReader.Problem {
    /// Whether JSON itself would allow it.
    fileprivate var isBound: Bool { self == .tooDeep || self == .tooMany }
}

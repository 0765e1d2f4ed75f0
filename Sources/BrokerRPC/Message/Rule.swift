import BrokerValues

/// A limit on a value, enforced and documented from one definition.
package struct Rule<Value>: Sendable {
    let check: @Sendable (Value) throws(WireError) -> Void
    private let makeSchema: @Sendable () -> JSONObject

    init(
        schema: @autoclosure @escaping @Sendable () -> JSONObject,
        _ check: @escaping @Sendable (Value) throws(WireError) -> Void
    ) {
        makeSchema = schema
        self.check = check
    }

    /// The limit's addition to the value's schema.
    var schema: JSONObject { makeSchema() }
}

extension Rule {
    static var none: Rule { Rule(schema: [:]) { _ throws(WireError) in } }

    /// Every element follows the rule, and there are at most `count`.
    static func each<Element>(_ rule: Rule<Element>, atMost count: Int) -> Rule where Value == [Element] {
        Rule(schema: [
            "items": .object(["type": "string"].merging(rule.schema) { $1 }), "maxItems": .integer(Int64(count)),
        ]) { elements throws(WireError) in
            guard elements.count <= count else { throw WireError("must have at most \(count) elements") }
            for (index, element) in elements.enumerated() {
                do throws(WireError) { try rule.check(element) } catch { throw error.inside("[\(index)]") }
            }
        }
    }
}

extension Rule<String> {
    /// Text that is safe in a log line, a header or a URL: not empty, no control characters.
    ///
    /// `bytes` counts UTF-8.
    static func text(atMost bytes: Int) -> Rule {
        Rule(schema: ["minLength": 1, "maxLength": .integer(Int64(bytes)), "pattern": #"^[^\u0000-\u001f\u007f]*$"#]) {
            text throws(WireError) in
            guard !text.isEmpty else { throw WireError("must not be empty") }
            guard text.utf8.count <= bytes else { throw WireError("must have at most \(bytes) bytes") }
            guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
                throw WireError("must not contain control characters")
            }
        }
    }

    /// Any text: a name that another party chose, for example a file's path. It is escaped when it is displayed.
    static func anyText(atMost bytes: Int) -> Rule {
        Rule(schema: ["minLength": 1, "maxLength": .integer(Int64(bytes))]) { text throws(WireError) in
            guard (1...bytes).contains(text.utf8.count) else { throw WireError("must have 1 to \(bytes) bytes") }
        }
    }

    /// A name: ``text(atMost:)``, and not only spaces.
    static func name(atMost bytes: Int) -> Rule {
        let text = text(atMost: bytes)
        let pattern = #"^ *[^\u0000-\u0020\u007f][^\u0000-\u001f\u007f]*$"#
        return Rule(schema: text.schema.merging(["pattern": .string(pattern)]) { $1 }) { name throws(WireError) in
            try text.check(name)
            guard name.utf8.contains(where: { $0 != 0x20 }) else { throw WireError("must not be blank") }
        }
    }

    /// RFC 6749, section 3.3; a string with several scopes, separated by spaces, is read as several.
    static var scope: Rule {
        Rule(schema: ["minLength": 1, "maxLength": 2048, "pattern": #"^[\u0020\u0021\u0023-\u005b\u005d-\u007e]*$"#]) {
            text throws(WireError) in
            guard text.utf8.contains(where: { $0 != 0x20 }) else { throw WireError("must not be empty") }
            guard text.utf8.count <= 2048 else { throw WireError("must have at most 2048 bytes") }
            let isScope = text.utf8.allSatisfy {
                (0x20...0x7e).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
            }
            guard isScope else { throw WireError("has a character that no scope may have (RFC 6749, section 3.3)") }
        }
    }

    /// Printable ASCII without spaces: safe in a list that is separated by spaces.
    static func word(atMost bytes: Int) -> Rule {
        Rule(schema: ["minLength": 1, "maxLength": .integer(Int64(bytes)), "pattern": #"^[\u0021-\u007e]*$"#]) {
            text throws(WireError) in
            guard (1...bytes).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
                throw WireError("must be 1 to \(bytes) printable ASCII characters without blanks")
            }
        }
    }

    /// RFC 8707, section 2: an absolute URI without a fragment.
    static var resource: Rule {
        Rule(schema: ["format": "uri", "maxLength": 2048, "pattern": #"^[A-Za-z][A-Za-z0-9+.-]*:[^#]+$"#]) {
            text throws(WireError) in
            try word(atMost: 2048).check(text)
            let scheme = text.utf8.prefix { $0 != UInt8(ascii: ":") }
            let isScheme =
                scheme.first.map(isLetter) == true
                && scheme.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0) }
            guard isScheme, scheme.count + 1 < text.utf8.count, !text.utf8.contains(UInt8(ascii: "#")) else {
                throw WireError("must be an absolute URI without a fragment (RFC 8707)")
            }
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7a).contains(byte | 0x20) }

    /// Written to logs and request headers unchanged.
    static var correlationID: Rule {
        Rule(schema: ["pattern": "^[A-Za-z0-9._:-]{1,128}$"]) { text throws(WireError) in
            let isPlain = text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "._:-".utf8.contains($0) }
            guard (1...128).contains(text.utf8.count), isPlain else {
                throw WireError("must be 1 to 128 letters, digits or any of . _ : - (a UUID, for example)")
            }
        }
    }
}

extension Rule<Int64> {
    static func between(_ range: ClosedRange<Int64>) -> Rule {
        Rule(schema: ["minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound)]) {
            value throws(WireError) in
            guard range.contains(value) else {
                throw WireError("must be from \(range.lowerBound) to \(range.upperBound)")
            }
        }
    }
}

extension Rule<[String: String]> {
    /// Query parameters: names and values follow ``Rule/text(atMost:)``, values may be empty.
    static var query: Rule {
        Rule(schema: ["maxProperties": 64]) { pairs throws(WireError) in
            guard pairs.count <= 64 else { throw WireError("must have at most 64 members") }
            for (name, value) in pairs {
                do throws(WireError) {
                    try Rule<String>.text(atMost: 256).check(name)
                    if !value.isEmpty { try Rule<String>.text(atMost: 8192).check(value) }
                } catch { throw error.inside(name) }
            }
        }
    }
}

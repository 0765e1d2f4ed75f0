import BrokerValues

/// Markup that escapes every text from outside: a plain `String` cannot be put in.
///
///     let line: HTML = "<p>\(text: name)</p>"
struct HTML: ExpressibleByStringInterpolation, Sendable, Equatable {
    let source: String

    // Pages are written rarely: code used a dozen times in each of them exists once.
    @inline(never)
    init(stringLiteral source: StaticString) {
        self.source = "\(source)"
    }

    init(stringInterpolation parts: Interpolation) {
        source = parts.source
    }

    struct Interpolation: StringInterpolationProtocol {
        fileprivate(set) var source = ""

        @inline(never)
        init(literalCapacity: Int, interpolationCount: Int) {
            source.reserveCapacity(literalCapacity + 64 * interpolationCount)
        }

        @inline(never)
        mutating func appendLiteral(_ literal: StaticString) {
            source += "\(literal)"
        }

        @inline(never)
        mutating func appendInterpolation(_ markup: HTML) {
            source += markup.source
        }

        @inline(never)
        mutating func appendInterpolation(text: SafeText) {
            source += text.escaped
        }

        /// A name or an address that breaks onto the next line with a sign, not within a word.
        @inline(never)
        mutating func appendInterpolation(name: SafeText) {
            for scalar in name.escaped.unicodeScalars {
                source.unicodeScalars.append(scalar)
                switch scalar {
                case "/", ".", "@", ":", "_", "-": source += "<wbr>"
                default: break
                }
            }
        }

        /// For the broker's own style sheet and script, in elements without escapes.
        @inline(never)
        mutating func appendInterpolation(verbatim own: String) {
            source += own
        }
    }
}

extension [HTML] {
    func joined(by separator: HTML = "") -> HTML {
        guard let first else { return "" }
        return dropFirst().reduce(first) { "\($0)\(separator)\($1)" }
    }
}

extension SafeText {
    /// - Parameter fallback: replaces a text that is empty or blank.
    init(onPage text: String, atMost length: Int, otherwise fallback: String = "") {
        let isVisible = text.contains { !$0.isWhitespace }
        self.init(isVisible ? text : fallback, atMost: length, .mark)
    }

    /// For element content and for attribute values in double or single quotes.
    fileprivate var escaped: String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

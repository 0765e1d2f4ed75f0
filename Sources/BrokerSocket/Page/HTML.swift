/// Markup, in which every text put in from outside is escaped: a plain `String` cannot be put in.
///
///     let line: HTML = "<p>\(text: name)</p>"
struct HTML: ExpressibleByStringInterpolation, Sendable, Equatable {
    let source: String

    init(stringLiteral source: StaticString) {
        self.source = "\(source)"
    }

    init(stringInterpolation parts: Interpolation) {
        source = parts.source
    }

    struct Interpolation: StringInterpolationProtocol {
        fileprivate(set) var source = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            source.reserveCapacity(literalCapacity + 64 * interpolationCount)
        }

        mutating func appendLiteral(_ literal: StaticString) {
            source += "\(literal)"
        }

        mutating func appendInterpolation(_ markup: HTML) {
            source += markup.source
        }

        mutating func appendInterpolation(text: ForeignText) {
            source += text.escaped
        }

        /// For the broker's own style sheet and script, which stand in elements that know no escapes.
        mutating func appendInterpolation(verbatim own: String) {
            source += own
        }
    }
}

/// A journal text that keeps the names of people separate: whether they are written is a setting (`log.names`).
struct JournalText: Sendable, ExpressibleByStringInterpolation {
    fileprivate enum Part: Sendable {
        case words(String)
        case person(String)
    }

    private var parts: [Part]

    init(stringLiteral words: String) { parts = [.words(words)] }
    init(stringInterpolation: Interpolation) { parts = stringInterpolation.parts }

    /// With all names, as in the audit log, which is in the vault.
    var plain: String { shown { $0 } }

    func shown(_ name: (String) -> String) -> String {
        parts.reduce(into: "") { text, part in
            switch part {
            case .words(let words): text += words
            case .person(let person): text += name(person)
            }
        }
    }

    static func + (text: JournalText, words: String) -> JournalText {
        var text = text
        text.parts.append(.words(words))
        return text
    }

    struct Interpolation: StringInterpolationProtocol {
        fileprivate var parts: [Part] = []

        init(literalCapacity: Int, interpolationCount: Int) {}

        mutating func appendLiteral(_ literal: String) { parts.append(.words(literal)) }
        mutating func appendInterpolation<Value: Sendable>(_ value: Value) { parts.append(.words("\(value)")) }
        /// A username, or another name that a caller gave an account.
        mutating func appendInterpolation(person name: String) { parts.append(.person(name)) }
    }
}

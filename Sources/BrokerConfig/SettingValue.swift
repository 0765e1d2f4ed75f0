import BrokerValues

/// A value as given, before it is checked against a setting.
enum SettingValue: Equatable {
    case boolean(Bool)
    case integer(Int)
    case string(String)
    case words([String])
    /// A type that no setting accepts, such as a date; has TOML's name.
    case other(String)

    var typeName: String {
        switch self {
        case .boolean: "a boolean"
        case .integer: "an integer"
        case .string: "a string"
        case .words: "an array"
        case .other(let name): name
        }
    }
}

extension SettingValue {
    /// A text split like one command of `$BROWSER`: at spaces, except quoted or escaped ones, with no other shell syntax.
    /// `nil` for an open quote.
    var command: SettingValue? {
        guard case .string(let text) = self else { return self }
        return BrowserCommand.words(of: text).map { .words($0) }
    }
}

extension Setting {
    /// Flags and environment variables carry only text; the setting determines its type.
    func value(fromText text: String) -> SettingValue {
        switch kind {
        case .boolean: ["true": .boolean(true), "false": .boolean(false)][text] ?? .string(text)
        case .integer: Int(text).map { .integer($0) } ?? .string(text)
        // A command comes only from files: splitting a text into words would be a shell's job.
        case .choice, .keySources, .path, .pathOrOff, .command: .string(text)
        }
    }

    /// - Throws: ``Refusal`` if the type or range does not fit the setting.
    func assign(
        _ value: SettingValue, home: String?, keySources: [String], to configuration: inout BrokerConfiguration
    ) throws(Refusal) {
        switch (kind, value) {
        case (.boolean(let field), .boolean(let flag)):
            configuration[keyPath: field] = flag
        case (.integer(let field, let range, let unit), .integer(let number)):
            guard range.contains(number) else {
                throw Refusal(
                    .outOfRange,
                    "\(number) is not between \(range.lowerBound) and \(range.upperBound)\(Kind.words(unit))")
            }
            configuration[keyPath: field] = number
        case (.choice(let field, let choices), .string(let text)):
            configuration[keyPath: field] = try Self.choice(text, of: choices)
        case (.keySources(let field), .string(let text)):
            configuration[keyPath: field] = [try Self.choice(text, of: keySources)]
        case (.keySources(let field), .words(let names)):
            guard !names.isEmpty else { throw Refusal(.outOfRange, "names no key source") }
            for (place, name) in names.enumerated() {
                _ = try Self.choice(name, of: keySources)
                guard !names[..<place].contains(name) else {
                    throw Refusal(.outOfRange, "names \(name) twice")
                }
            }
            configuration[keyPath: field] = names
        case (.pathOrOff(let field), .string(BrokerConfiguration.Doors.off)):
            configuration[keyPath: field] = BrokerConfiguration.Doors.off
        case (.path(let field), .string(let text)), (.pathOrOff(let field), .string(let text)):
            configuration[keyPath: field] = try Self.path(text, home: home)
        case (.command(let field), .words(let words)):
            guard let program = words.first, !program.isEmpty else { throw Refusal(.outOfRange, "names no program") }
            guard !words.contains(where: { $0.utf8.contains(0) }) else {
                throw Refusal(.outOfRange, "has a NUL in it")
            }
            configuration[keyPath: field] = words
        default:
            throw Refusal(.wrongType, "expects \(kind.typeName), not \(value.typeName)")
        }
    }

    struct Refusal: Error {
        var code: ConfigurationError.Code
        var text: String

        init(_ code: ConfigurationError.Code, _ text: String) {
            self.code = code
            self.text = text
        }
    }

    private static func choice(_ text: String, of choices: [String]) throws(Refusal) -> String {
        guard choices.contains(text) else {
            throw Refusal(.outOfRange, "\"\(text)\" is not one of \(choices.joined(separator: ", "))")
        }
        return text
    }

    private static func path(_ text: String, home: String?) throws(Refusal) -> String {
        guard !text.utf8.contains(0) else { throw Refusal(.outOfRange, "has a NUL in it") }
        if text.hasPrefix("/") { return text }
        guard text.hasPrefix("~/"), let home, home.hasPrefix("/") else {
            throw Refusal(.outOfRange, "\"\(text)\" is not an absolute path")
        }
        return home + text.dropFirst()
    }
}

extension Setting.Kind {
    var typeName: String {
        switch self {
        case .boolean: "a boolean"
        case .integer: "an integer"
        case .choice, .path, .pathOrOff: "a string"
        case .keySources: "a string or an array of strings"
        case .command: "an array of strings"
        }
    }
}

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

    /// - Throws: if the type or range does not fit the setting.
    func assign(
        _ value: SettingValue, home: String?, keySources: [String], to configuration: inout BrokerConfiguration
    ) throws(SettingRefusal) {
        switch (kind, value) {
        case (.boolean(let field), .boolean(let flag)):
            configuration[keyPath: field] = flag
        case (.integer(let field, let range, let unit), .integer(let number)):
            configuration[keyPath: field] = try Self.number(number, in: range, unit)
        case (.choice(let field, let choices), .string(let text)):
            configuration[keyPath: field] = try Self.choice(text, of: choices)
        case (.keySources(let field), .string(let text)):
            configuration[keyPath: field] = [try Self.choice(text, of: keySources)]
        case (.keySources(let field), .words(let names)):
            configuration[keyPath: field] = try Self.choices(names, of: keySources)
        case (.pathOrOff(let field), .string(BrokerConfiguration.Doors.off)):
            configuration[keyPath: field] = BrokerConfiguration.Doors.off
        case (.path(let field), .string(let text)), (.pathOrOff(let field), .string(let text)):
            configuration[keyPath: field] = try Self.path(text, home: home)
        case (.command(let field), .words(let words)):
            configuration[keyPath: field] = try Self.command(words)
        default: throw .wrongType(value, instead: kind.typeName)
        }
    }

    private static func number(
        _ number: Int, in range: ClosedRange<Int>, _ unit: String?
    ) throws(SettingRefusal) -> Int {
        guard range.contains(number) else {
            throw SettingRefusal(
                .outOfRange, "\(number) is not between \(range.lowerBound) and \(range.upperBound)\(Kind.words(unit))")
        }
        return number
    }

    private static func choice(_ text: String, of choices: [String]) throws(SettingRefusal) -> String {
        guard choices.contains(text) else { throw .unknown(text, among: choices) }
        return text
    }

    private static func choices(_ names: [String], of sources: [String]) throws(SettingRefusal) -> [String] {
        guard !names.isEmpty else { throw SettingRefusal(.outOfRange, "names no key source") }
        for (place, name) in names.enumerated() {
            _ = try choice(name, of: sources)
            guard !names[..<place].contains(name) else { throw SettingRefusal(.outOfRange, "names \(name) twice") }
        }
        return names
    }

    private static func command(_ words: [String]) throws(SettingRefusal) -> [String] {
        guard let program = words.first, !program.isEmpty else {
            throw SettingRefusal(.outOfRange, "names no program")
        }
        guard !words.contains(where: { $0.utf8.contains(0) }) else {
            throw SettingRefusal(.outOfRange, "has a NUL in it")
        }
        return words
    }

    private static func path(_ text: String, home: String?) throws(SettingRefusal) -> String {
        guard !text.utf8.contains(0) else { throw SettingRefusal(.outOfRange, "has a NUL in it") }
        if text.hasPrefix("/") { return text }
        guard text.hasPrefix("~/"), let home, home.hasPrefix("/") else {
            throw SettingRefusal(.outOfRange, "\"\(text)\" is not an absolute path")
        }
        return home + text.dropFirst()
    }
}

extension Setting.Kind {
    fileprivate var typeName: String {
        switch self {
        case .boolean: "a boolean"
        case .integer: "an integer"
        case .choice, .path, .pathOrOff: "a string"
        case .keySources: "a string or an array of strings"
        case .command: "an array of strings"
        }
    }
}

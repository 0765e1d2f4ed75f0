import BrokerValues

/// What can be wrong with a command line, and the sentence that says so.
extension UsageError {
    static func unknown(_ word: String, among declarations: [Declaration]) -> UsageError {
        let hint = Spelling.hint(for: word, among: declarations.flatMap(\.words).filter { $0.hasPrefix("--") })
        return UsageError("There is no option \(word.clean)\(hint.isEmpty ? "." : hint)")
    }

    static func tooMany(_ word: String, among declarations: [Declaration]) -> UsageError {
        // `brokerctl token notes`
        let hint = declarations.contains { $0.name == "app" } ? " Did you mean --app \(word.clean)?" : ""
        return UsageError("\(word.clean) is one argument too many.\(hint)")
    }

    static func hasNoValue(_ declaration: Declaration) -> UsageError {
        UsageError("--\(declaration.name) takes no value.", about: declaration)
    }

    static func missingValue(_ declaration: Declaration) -> UsageError {
        UsageError("--\(declaration.name) lacks its value.", about: declaration)
    }

    static func missing(_ declaration: Declaration) -> UsageError {
        let words = declaration.words.suffix(1) + [declaration.placeholder]
        return UsageError("\(words.joined(separator: " ")) is missing.", about: declaration)
    }

    static func unfit(_ word: String, for declaration: Declaration) -> UsageError {
        let name = declaration.words.last ?? declaration.placeholder
        let said = word.isEmpty ? "nothing" : word.clean
        guard let last = declaration.values.last else {
            return UsageError("\(name) cannot be \(said).", about: declaration)
        }
        let others = declaration.values.dropLast().joined(separator: ", ")
        return UsageError("\(name) takes \(others) or \(last), not \(said).", about: declaration)
    }

    /// - Parameter path: the words that lead to the noun.
    static func noSubcommand(_ word: String, of type: any Command.Type, _ path: [String]) -> UsageError {
        let isOption = path.count == 1 && ["version", "json"].contains(word)
        let hint =
            isOption
            ? "; did you mean --\(word)?" : Spelling.hint(for: word, among: type.subcommands.map { $0.about.name })
        let help = ([path[0], "help"] + path.dropFirst()).joined(separator: " ")
        var mistake = UsageError(
            "There is no command \(word.clean)\(hint.isEmpty ? "." : hint)\n\(help) lists them all.")
        mistake.isAboutSubcommand = true
        return mistake
    }
}

import BrokerValues

/// What can be wrong with a command line, and the sentence that says so.
extension UsageMistake {
    static func unknown(_ word: String, among declarations: [Declaration]) -> UsageMistake {
        let hint = Spelling.hint(for: word, among: declarations.flatMap(\.words).filter { $0.hasPrefix("--") })
        return UsageMistake("There is no option \(word.clean)\(hint.isEmpty ? "." : hint)")
    }

    static func tooMany(_ word: String, among declarations: [Declaration]) -> UsageMistake {
        // `brokerctl token notes`
        let hint = declarations.contains { $0.name == "app" } ? " Did you mean --app \(word.clean)?" : ""
        return UsageMistake("\(word.clean) is one argument too many.\(hint)")
    }

    static func hasNoValue(_ declaration: Declaration) -> UsageMistake {
        UsageMistake("--\(declaration.name) takes no value.", about: declaration)
    }

    static func lacksValue(_ declaration: Declaration) -> UsageMistake {
        UsageMistake("--\(declaration.name) lacks its value.", about: declaration)
    }

    static func missing(_ declaration: Declaration) -> UsageMistake {
        let words = declaration.words.suffix(1) + [declaration.placeholder]
        return UsageMistake("\(words.joined(separator: " ")) is missing.", about: declaration)
    }

    static func unfit(_ word: String, for declaration: Declaration) -> UsageMistake {
        let name = declaration.words.last ?? declaration.placeholder
        let said = word.isEmpty ? "nothing" : word.clean
        guard let last = declaration.values.last else {
            return UsageMistake("\(name) cannot be \(said).", about: declaration)
        }
        let others = declaration.values.dropLast().joined(separator: ", ")
        return UsageMistake("\(name) takes \(others) or \(last), not \(said).", about: declaration)
    }

    /// - Parameter path: the words that lead to the noun.
    static func noSubcommand(_ word: String, of type: any Command.Type, _ path: [String]) -> UsageMistake {
        let isOption = path.count == 1 && ["version", "json"].contains(word)
        let hint =
            isOption
            ? "; did you mean --\(word)?" : Spelling.hint(for: word, among: type.subcommands.map { $0.about.name })
        let help = ([path[0], "help"] + path.dropFirst()).joined(separator: " ")
        var mistake = UsageMistake(
            "There is no command \(word.clean)\(hint.isEmpty ? "." : hint)\n\(help) lists them all.")
        mistake.isAboutSubcommand = true
        return mistake
    }
}

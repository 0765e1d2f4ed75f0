import BrokerValues

/// The possible mistakes in a command line, with their messages.
extension UsageError {
    static func unknown(_ word: String, among declarations: [Declaration]) -> UsageError {
        // The common dashes make no word more similar.
        let known = (declarations + Declaration.standard).flatMap(\.words).filter { $0.hasPrefix("--") }
        let closest = word.hasPrefix("--") ? Spelling.closest(to: word.dropDashes, among: known.map(\.dropDashes)) : nil
        let meant = ["-v", "-V"].contains(word) ? "version" : closest
        return UsageError("There is no option \(word.clean)\(meant.map { "; did you mean --\($0)?" } ?? ".")")
    }

    /// - Parameter line: the whole command line.
    static func tooMany(_ word: String, among declarations: [Declaration], in line: [String]) -> UsageError {
        // `brokerctl token notes`
        let isSaid = line.contains { $0 == "--app" || $0.hasPrefix("--app=") }
        let takesApp = !isSaid && declarations.contains { $0.name == "app" }
        let hint = takesApp ? " Did you mean --app \(word.clean)?" : ""
        return UsageError("\(word.clean) is an unexpected argument.\(hint)")
    }

    static func hasNoValue(_ declaration: Declaration) -> UsageError {
        UsageError("--\(declaration.name) takes no value.", about: declaration)
    }

    static func missingValue(_ declaration: Declaration) -> UsageError {
        UsageError("--\(declaration.name) needs a value.", about: declaration)
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
        let known = type.subcommands.map { $0.about.name }
        let meant = MeantCommand.of(word, below: path, known)
        let hint = meant.map { "; did you mean \($0)?" } ?? Spelling.hint(for: word, among: known)
        let help = ([path[0], "help"] + path.dropFirst()).joined(separator: " ")
        var mistake = UsageError(
            "There is no command \(word.clean)\(hint.isEmpty ? "." : hint)\n\(help) lists them all.")
        mistake.isAboutSubcommand = true
        return mistake
    }
}

extension String {
    fileprivate var dropDashes: String { String(drop { $0 == "-" }) }
}

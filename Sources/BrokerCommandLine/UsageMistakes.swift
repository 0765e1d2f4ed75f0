import BrokerValues

/// The possible mistakes in a command line, with their messages.
extension UsageError {
    static func unknown(_ word: String, among declarations: [Declaration]) -> UsageError {
        // The dashes, which all options share, must not count as similarity.
        let known = (declarations + Declaration.standard).flatMap(\.words).filter { $0.hasPrefix("--") }
        let closest = word.hasPrefix("--") ? Spelling.closest(to: word.dropDashes, among: known.map(\.dropDashes)) : nil
        let meant = ["-v", "-V"].contains(word) ? "version" : closest
        return UsageError("There is no option \(word.shown)\(meant.map { "; did you mean --\($0)?" } ?? ".")")
    }

    /// - Parameter line: the whole command line.
    static func tooMany(_ word: String, among declarations: [Declaration], in line: [String]) -> UsageError {
        guard !word.isEmpty else { return UsageError("An empty argument is unexpected.") }
        // `brokerctl token notes`
        let isSaid = line.contains { $0 == "--app" || $0.hasPrefix("--app=") }
        let takesApp = !isSaid && declarations.contains { $0.name == "app" }
        let hint = takesApp ? " Did you mean --app \(word.shown)?" : ""
        return UsageError("\(word.shown) is an unexpected argument.\(hint)")
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
        let said = word.isEmpty ? "nothing" : word.shown
        guard let last = declaration.values.last else {
            return UsageError("\(name) cannot be \(said).", about: declaration)
        }
        let others = declaration.values.dropLast().joined(separator: ", ")
        return UsageError("\(name) takes \(others) or \(last), not \(said).", about: declaration)
    }
}

extension String {
    /// The text with escapes for characters that a terminal would not show: the words of a wrapper may contain some.
    fileprivate var shown: String { SafeText(self, atMost: 4096, .escape).text }

    fileprivate var dropDashes: String { String(drop { $0 == "-" }) }
}

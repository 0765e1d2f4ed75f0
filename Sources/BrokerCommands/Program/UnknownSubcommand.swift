import ArgumentParser
import BrokerValues

/// A word on the command line that should name a subcommand and does not.
enum UnknownSubcommand {
    /// - Parameter words: brokerctl's arguments.
    /// - Returns: what to tell the person; nil where another thing is wrong.
    static func message(for words: [String]) -> String? {
        var type: any ParsableCommand.Type = BrokerctlCommand.self
        var path = ["brokerctl"]
        var rest = words[...]
        if rest.first == "help" { rest.removeFirst() }
        while let word = rest.popFirst() {
            if word == "--socket" { _ = rest.popFirst() }
            guard !word.hasPrefix("-") else { continue }
            let known = type.configuration.subcommands
            guard !known.isEmpty else { return nil }
            guard let next = known.first(where: { $0.configuration.commandName == word }) else {
                let hint = Spelling.hint(for: word, among: known.compactMap { $0.configuration.commandName })
                let command = path.joined(separator: " ")
                let help = (["brokerctl", "help"] + path.dropFirst()).joined(separator: " ")
                return
                    "\(command): There is no command \(word.clean)\(hint.isEmpty ? "." : hint)\n\(help) lists them all."
            }
            type = next
            path.append(word)
        }
        return nil
    }
}

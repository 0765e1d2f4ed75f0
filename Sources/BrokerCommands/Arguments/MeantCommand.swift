import BrokerCommandLine
import BrokerValues

/// The command that people mean by another word. Its spelling alone would lead elsewhere: from `sign-in` to `run-in`.
package enum MeantCommand {
    /// By noun; the empty one is brokerctl itself.
    package static let table: [String: [String: String]] = [
        "": [
            "version": "--version", "json": "--json", "sign-in": "login", "signin": "login", "auth": "login",
            "sign-out": "logout", "signout": "logout", "whoami": "accounts list", "list": "accounts list",
            "register": "apps add", "stats": "cache stats", "approve": "grants approve",
        ],
        "accounts": ["sign-in": "login", "signin": "login", "login": "login", "add": "login", "logout": "logout"],
        "apps": ["register": "apps add"],
        "cache": ["show": "cache stats", "backup": "cache export", "restore": "cache import"],
        "config": ["list": "config show", "ls": "config show", "unset": "config edit", "reset": "config edit"],
        "grants": [
            "add": "grants approve", "remove": "grants revoke", "delete": "grants revoke", "rm": "grants revoke",
        ],
        "key": ["show": "key status", "list": "key status"],
    ]
    /// For every noun that has the command.
    private static let verbs = [
        "ls": "list", "rm": "remove", "delete": "remove", "del": "remove", "new": "add", "create": "add",
        "info": "show",
        "get": "show", "change": "edit",
    ]

    /// - Parameters:
    ///   - path: the words that lead to the noun.
    ///   - known: its commands.
    static func of(_ word: String, below path: [String], _ known: [String]) -> String? {
        let noun = path.dropFirst().joined(separator: " ")
        if let meant = table[noun]?[word] { return meant.hasPrefix("-") ? meant : "\(path[0]) \(meant)" }
        if let verb = verbs[word], known.contains(verb) { return verb }
        let begun = known.filter { $0.hasPrefix(word) }
        return begun.count == 1 ? begun.first : nil
    }
}

extension UsageError {
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

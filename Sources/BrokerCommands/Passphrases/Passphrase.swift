import BrokerLink
import BrokerRPC
import BrokerValues
import Glibc

/// How a passphrase is asked for: all of one line, blanks included.
struct PassphraseOptions: ArgumentGroup {
    var stdin = false
    var pinentry: String?

    mutating func declare(in arguments: inout Arguments) {
        arguments.flag("stdin", &stdin, "Read the passphrase from standard input, one line, instead of the terminal.")
        arguments.option(
            "pinentry", &pinentry, value: "program",
            "Ask for it with this program, such as pinentry-gnome3, instead of the terminal.")
    }

    func validate() throws(UsageError) {
        guard !stdin || pinentry == nil else { throw UsageError("Give --stdin or --pinentry, not both.") }
    }

    /// Whether somebody would be asked who did not bring it along.
    var asksPerson: Bool { !stdin }

    /// For a source of the vault's key. A refusal comes before anybody types.
    ///
    /// - Returns: the passphrase, nil for a source that has none; and what the vault's key was until now.
    func read(
        _ what: StaticString, forKeySource source: String, on connection: DirectConnection
    ) throws(BrokerClientError) -> (passphrase: String?, before: KeyState) {
        let before = try connection.call(GetKeyStatus.self, .init())
        let isWanted = !asksPerson || source == "passphrase"
        return (isWanted ? try read(what, isNew: true) : nil, before)
    }

    /// - Parameter what: such as “Passphrase of the backup”.
    /// - Parameter isNew: it is asked for twice: what was mistyped could never be typed again.
    func read(_ what: StaticString, isNew: Bool = false) throws(BrokerClientError) -> String {
        if stdin { return try fromStandardInput() }
        let passphrase =
            if let pinentry {
                try Pinentry.passphrase(what, isNew: isNew, from: pinentry)
            } else {
                try fromTerminal(what, isNew: isNew)
            }
        guard !passphrase.isEmpty else {
            throw BrokerClientError(.invalidParameter, "No passphrase was given; run the command again.")
        }
        return passphrase
    }

    private func fromStandardInput() throws(BrokerClientError) -> String {
        guard let line = TerminalPrompt.line(from: STDIN_FILENO) else {
            throw BrokerClientError(
                .invalidParameter, "Standard input holds no passphrase; put it there as one line of text.")
        }
        return line
    }

    /// Shows nothing of what is typed.
    private func fromTerminal(_ what: StaticString, isNew: Bool) throws(BrokerClientError) -> String {
        guard let first = TerminalPrompt.line("\(what): ", hidden: true) else {
            throw BrokerClientError(
                .invalidParameter,
                "There is no terminal to ask for the passphrase; give it on standard input with --stdin, or ask with --pinentry."
            )
        }
        guard isNew, !first.isEmpty else { return first }
        guard first.utf8.count >= PassphraseRule.shortest else {
            throw BrokerClientError(
                .invalidParameter,
                "A passphrase has at least \(PassphraseRule.shortest) characters; nothing was changed. Run the command again."
            )
        }
        guard TerminalPrompt.line("The same again: ", hidden: true) == first else {
            throw Self.differ
        }
        return first
    }

    static let differ = BrokerClientError(
        .invalidParameter, "The two differ; nothing was changed. Run the command again.")
}

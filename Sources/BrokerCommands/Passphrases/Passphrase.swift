import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues
import Glibc

/// The source of a passphrase: one whole line, including blanks.
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

    /// Whether to prompt, because standard input does not supply the passphrase.
    var asksPerson: Bool { !stdin }

    /// Reads the passphrase for a source of the vault's key. Fails before the prompt if access is denied.
    ///
    /// - Returns: the passphrase, `nil` for a source that has none; and the previous state of the vault's key.
    func read(
        _ what: StaticString, forKeySource source: String, on connection: DirectConnection
    ) throws(BrokerClientError) -> (passphrase: String?, before: KeyState) {
        let before = try connection.call(GetKeyStatus.self, .init())
        let isWanted = !asksPerson || source == "passphrase"
        return (isWanted ? try read(what, isNew: true) : nil, before)
    }

    /// - Parameter what: for example “Passphrase of the backup”.
    /// - Parameter isNew: whether to ask twice, because a mistyped passphrase could never be repeated.
    func read(_ what: StaticString, isNew: Bool = false) throws(BrokerClientError) -> String {
        // Nothing typed at a terminal is shown there.
        if stdin, isatty(STDIN_FILENO) == 0 { return try fromStandardInput() }
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

    /// Reads without echo.
    private func fromTerminal(_ what: StaticString, isNew: Bool) throws(BrokerClientError) -> String {
        guard let first = TerminalPrompt.line("\(what): ", hidden: true) else {
            throw BrokerClientError(
                .invalidParameter,
                "There is no terminal to ask for the passphrase; give it on standard input with --stdin, or ask with --pinentry."
            )
        }
        guard isNew, !first.isEmpty else { return first }
        try NewPassphrase.requireLength(first)
        guard TerminalPrompt.line("The same again: ", hidden: true) == first else {
            throw NewPassphrase.differ
        }
        return first
    }
}

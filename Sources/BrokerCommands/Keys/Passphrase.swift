import BrokerClient
import Glibc

/// A passphrase as a person types or pipes it: all of one line, blanks included.
enum Passphrase {
    static func fromStandardInput() throws(BrokerClientError) -> String {
        guard let line = TerminalPrompt.line(from: STDIN_FILENO) else {
            throw BrokerClientError(
                .invalidParameter, "Standard input holds no passphrase; put it there as one line of text.")
        }
        return line
    }

    /// Asks on the terminal, and shows nothing of what is typed.
    static func fromTerminal(_ prompt: String) throws(BrokerClientError) -> String {
        guard let line = TerminalPrompt.line(prompt, hidden: true) else {
            throw BrokerClientError(
                .invalidParameter,
                "There is no terminal to ask for the passphrase; give it on standard input with --stdin.")
        }
        guard !line.isEmpty else {
            throw BrokerClientError(.invalidParameter, "No passphrase was given; run the command again.")
        }
        return line
    }

    /// Twice: what was mistyped could never be typed again.
    static func newFromTerminal(_ prompt: String = "New passphrase of the broker: ") throws(BrokerClientError) -> String
    {
        let first = try fromTerminal(prompt)
        guard try fromTerminal("The same again: ") == first else {
            throw BrokerClientError(.invalidParameter, "The two differ; nothing was changed. Run the command again.")
        }
        return first
    }
}

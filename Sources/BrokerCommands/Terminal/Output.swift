import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues
import Glibc

/// Prints the result of a command, for a person or a program.
struct Output: Sendable {
    /// Whether to print only JSON on standard output, for programs.
    let json: Bool

    /// The layout of text for people.
    var layout: Layout { .of(.output) }
    var errorLayout: Layout { .of(.error) }

    /// Prints the method's result: verbatim for programs, in words for people.
    func result(_ node: JSONNode, _ words: () -> String) {
        if json {
            StandardStream.output.write(JSONText.line(node, readable: StandardStream.output.isTerminal))
        } else {
            StandardStream.output.write(layout.prose(words()))
        }
    }

    func line(_ text: String) { StandardStream.output.write((json ? text : layout.prose(text)) + "\n") }

    /// Prints an event after the time of day.
    func event(_ text: String, at time: NumericDate) {
        let clock = TimeText.clock(time) + "  "
        StandardStream.output.write(layout.prose(clock + text, hanging: clock.columns) + "\n")
    }

    /// Prints a message for the person at the terminal, even if standard output is redirected.
    func aside(_ text: String) { StandardStream.error.write(errorLayout.prose(text) + "\n") }

    /// Shows progress in a line that the next call replaces; `nil` clears it. Does nothing without a terminal.
    func passing(_ text: String?) {
        if StandardStream.error.isTerminal { StandardStream.error.write("\r\u{1B}[K" + (text ?? "")) }
    }

    func failed(_ error: BrokerClientError) {
        guard error.code != .reported else { return }
        if json {
            let node = JSONText.node(of: error)
            StandardStream.output.write(JSONText.line(node, readable: StandardStream.output.isTerminal))
        } else {
            aside(errorLayout.style.alarm("brokerctl:") + " " + error.message.clean)
            if let said = error.rpc?.data?.details.providersWords { aside("  The provider said: " + said.clean) }
            if error.isForAdministrators, let id = error.correlationId { aside("  Correlation id: " + id.clean) }
            for account in error.accounts ?? [] {
                aside("  " + "\(account.username) at \(account.environment), id \(account.identifier)".clean)
            }
            if let declined = error.declinedScopes, !declined.isEmpty {
                aside("  declined: " + declined.joined(separator: " ").clean)
            }
        }
    }

    /// Seconds since 1970.
    static var now: NumericDate { NumericDate(time(nil)) }
}

extension BrokerClientError.Code {
    /// The result already describes the failure; only the exit status remains to be set.
    static let reported = BrokerClientError.Code(rawValue: "reported")
}

extension BrokerClientError {
    /// Whether an administrator may need to find the request in a log: the provider took part in it, or the broker failed.
    fileprivate var isForAdministrators: Bool {
        oauthError != nil || httpStatus != nil
            || [.internal, .invalidResponse, .serverUnavailable, .offline].contains(code)
    }
}

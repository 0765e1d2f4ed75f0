import BrokerLink
import BrokerRPC
import BrokerValues
import Glibc

/// Says what a command found out, to a person or to a program.
struct Output: Sendable {
    /// Programs get JSON, and nothing else on standard output.
    let json: Bool

    /// What people read is laid out for their terminal.
    var layout: Layout { .of(.output) }
    var errorLayout: Layout { .of(.error) }

    /// The method's result: as it is for programs, in words for people.
    func result(_ node: JSONNode, _ words: () -> String) {
        if json {
            StandardStream.output.write(JSONText.line(node, readable: StandardStream.output.isTerminal))
        } else {
            StandardStream.output.write(layout.prose(words()))
        }
    }

    func line(_ text: String) { StandardStream.output.write((json ? text : layout.prose(text)) + "\n") }

    /// What happened, behind the time of day.
    func event(_ text: String, at time: NumericDate) {
        let clock = TimeText.clock(time) + "  "
        StandardStream.output.write(layout.prose(clock + text, hanging: clock.columns) + "\n")
    }

    /// For the person at the terminal, whatever becomes of standard output.
    func aside(_ text: String) { StandardStream.error.write(errorLayout.prose(text) + "\n") }

    /// What goes on right now, in a line that the next one takes the place of; nil takes it away. Nothing where nobody sees it.
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
            for account in error.accounts ?? [] { aside("  " + AccountText.line(account)) }
            if let declined = error.declinedScopes, !declined.isEmpty {
                aside("  declined: " + declined.joined(separator: " ").clean)
            }
        }
    }

    /// Seconds since 1970.
    static var now: NumericDate { NumericDate(time(nil)) }
}

extension BrokerClientError.Code {
    /// What is wrong was printed as the result; only the exit status is left to tell.
    static let reported = BrokerClientError.Code(rawValue: "reported")
}

extension BrokerClientError {
    /// Whether somebody has to look the request up in a log: the provider took part in it, or the broker failed.
    fileprivate var isForAdministrators: Bool {
        oauthError != nil || httpStatus != nil
            || [.internal, .invalidResponse, .serverUnavailable, .offline].contains(code)
    }
}

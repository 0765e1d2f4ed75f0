import BrokerClient
import BrokerRPC
import BrokerValues
import Glibc

/// Says what a command found out, to a person or to a program.
struct Output: Sendable {
    /// Programs get JSON, and nothing else on standard output.
    let json: Bool
    let style: Style
    let errorStyle: Style

    init(json: Bool) {
        self.json = json
        style = Style.of(.output)
        errorStyle = Style.of(.error)
    }

    /// The method's result: as it is for programs, in words for people.
    func result(_ node: JSONNode, _ words: () -> String) {
        if json {
            StandardStream.output.write(JSONText.line(node, readable: StandardStream.output.isTerminal))
        } else {
            StandardStream.output.write(words())
        }
    }

    func line(_ text: String) { StandardStream.output.write(text + "\n") }

    /// For the person at the terminal, whatever becomes of standard output.
    func aside(_ text: String) { StandardStream.error.write(text + "\n") }

    func failed(_ error: BrokerClientError) {
        guard error.code != .reported else { return }
        if json {
            let node = JSONText.node(of: error)
            StandardStream.output.write(JSONText.line(node, readable: StandardStream.output.isTerminal))
        } else {
            aside(errorStyle.alarm("brokerctl:") + " " + error.message.clean)
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

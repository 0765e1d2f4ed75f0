import BrokerCommandLine
import BrokerLink

/// A question that only a person at a terminal can answer, or `--yes` in advance.
struct Confirmation: ArgumentGroup {
    private var isGiven = false

    mutating func declare(in arguments: inout Arguments) {
        arguments.flag("yes", &isGiven, short: "y", "Do not ask.")
    }

    /// - Parameter question: evaluated only without `--yes`.
    /// - Throws: if the answer is not yes, or there is no terminal.
    func ask(_ question: () throws(BrokerClientError) -> String) throws(BrokerClientError) {
        guard !isGiven else { return }
        guard let answer = TerminalPrompt.line("\(try question()) [y/N] ".clean) else {
            throw BrokerClientError(.invalidParameter, "There is no terminal to ask on; use --yes if you are sure.")
        }
        guard ["y", "yes"].contains(answer.lowercased()) else {
            throw BrokerClientError(.userCanceled, "Nothing was changed.")
        }
    }
}

import BrokerLink
import BrokerRPC
import BrokerValues

/// The surroundings of a command: its program, connection and output.
struct CommandContext {
    /// The command at the root, which lists all others.
    let program: any Command.Type
    let connection: DirectConnection
    let output: Output

    /// Calls the broker and prints its answer: verbatim for programs, in words for people.
    func tell<M: BrokerMethod>(
        _: M.Type, _ params: M.Params, _ words: (M.Result) -> String
    ) throws(BrokerClientError) {
        let node = try answer(to: M.self, params)
        let result = try M.Result.decoded(node)
        output.result(node) { words(result) }
    }

    /// Calls the broker. If it requires proof of presence and no polkit agent is available, this terminal provides one.
    func answer<M: BrokerMethod>(
        to _: M.Type, _ params: M.Params
    ) throws(BrokerClientError) -> JSONNode {
        try answer(to: Request(M.self, params))
    }

    private func answer(to request: Request) throws(BrokerClientError) -> JSONNode {
        do throws(BrokerClientError) {
            return try connection.answer(to: request)
        } catch {
            guard error.reason == ErrorReason.presenceRequired.rawValue, let agent = TerminalAgent.start() else {
                throw error
            }
            defer { agent.end() }
            return try connection.answer(to: request)
        }
    }
}

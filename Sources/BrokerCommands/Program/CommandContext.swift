import BrokerLink
import BrokerRPC
import BrokerValues

/// What such a command has to work with.
struct CommandContext {
    let connection: DirectConnection
    let output: Output

    /// Asks the broker, and tells its answer: as it is to programs, in words to people.
    func tell<M: BrokerMethod>(
        _: M.Type, _ params: M.Params, _ words: (M.Result) -> String
    ) throws(BrokerClientError) {
        let node = try answer(to: M.self, params)
        let result = try M.Result.decoded(node)
        output.result(node) { words(result) }
    }

    /// Asks the broker. Where it wants the person to show that they are there, and nobody else asks them, this terminal does.
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

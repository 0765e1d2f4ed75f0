import BrokerClient
import BrokerRPC
import BrokerValues

/// How `brokerctl token` prints what it gets.
struct TokenPrinting {
    /// Nil for the token alone, or for JSON where all output is.
    var format: TokenFormat?
    /// All about the token, and not the token.
    var show = false

    func print(_ asking: SilentAsking, in context: CommandContext) throws(BrokerClientError) {
        let node = try asking.send(on: context.connection)
        guard !show else { return try describe(node, context.output) }
        let format = format ?? (context.output.json ? .json : .raw)
        StandardStream.output.write(try format.text(node, readable: StandardStream.output.isTerminal))
    }

    private func describe(_ node: JSONNode, _ output: Output) throws(BrokerClientError) {
        let token = try Token.decoded(node)
        output.result(TokenText.withoutSecrets(node)) {
            TokenText.facts(token, now: Output.now).text(in: output.layout)
        }
    }
}

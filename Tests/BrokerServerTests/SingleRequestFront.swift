import BrokerRPC
import BrokerServer
import BrokerSocket
import BrokerValues

/// JSON-RPC with one request for each connection: what follows has no answer.
struct SingleRequestFront: Front {
    let base: JSONRPCFront
    /// How many messages followed the request.
    let others: Tally
    var door = Door.socket

    var hasNotifications: Bool { false }

    func converse() -> any Conversation { SingleRequestConversation(base.converse(), others) }
    func refusal(_ error: BrokerError) -> [UInt8] { base.refusal(error) }
}

private final class SingleRequestConversation: Conversation {
    private let base: any Conversation
    private let others: Tally
    private(set) var isOver = false

    init(_ base: any Conversation, _ others: Tally) { (self.base, self.others) = (base, others) }

    func makeSplitter(limit: Int) -> any MessageSplitter { base.makeSplitter(limit: limit) }

    func begin(
        _ message: UnsafeRawBufferPointer, in context: ConnectionContext, refusing refusal: BrokerError?,
        _ writer: inout JSONWriter
    ) -> MessageHandling {
        guard !isOver else {
            others.add()
            return .answered
        }
        isOver = true
        return base.begin(message, in: context, refusing: refusal, &writer)
    }
}

import BrokerRPC
import BrokerSocket
import BrokerValues

/// A protocol by which programs reach the ``RequestService``. Callers, limits, admission, log and audit are the same for all of
/// them; a front only has its own messages and answers.
package protocol Front: Sendable {
    var door: Door { get }
    /// Whether its clients get notifications, such as that a page was opened.
    var hasNotifications: Bool { get }
    func converse() -> any Conversation
    /// The message for a refused peer, delimiter included; empty if the protocol has none.
    func refusal(_ error: BrokerError) -> [UInt8]
    /// As above, for a refusal by the socket layer.
    func refusal(_ reason: ConnectionRefusal) -> [UInt8]
}

extension Front {
    package func refusal(_ reason: ConnectionRefusal) -> [UInt8] { refusal(BrokerError(reason)) }
}

/// One connection of a front. Lives on the reactor's thread.
package protocol Conversation: AnyObject {
    /// Cuts the bytes of the connection into messages. Called once, before any byte is read.
    func makeSplitter(limit: Int) -> any MessageSplitter

    /// Whether the connection ends once all requests are answered.
    var isOver: Bool { get }

    /// Begins the requests of a message. The answer, delimiter included, is in the writer when this returns, unless a request waits.
    ///
    /// - Parameter refusal: the answer to each of its requests, if set.
    func begin(
        _ message: UnsafeRawBufferPointer, in context: ConnectionContext, refusing refusal: BrokerError?,
        _ writer: inout JSONWriter
    ) -> MessageHandling
}

/// The progress of a message on the reactor's thread.
package enum MessageHandling: Sendable {
    /// The answer is written, or there is none.
    case answered
    /// So many requests wait: run the rest in a task of its own. Answers of so many bytes wait for them.
    case waits(requests: Int, held: Int = 0, Rest)

    /// - Parameter holds: call it when more answers wait for others, with the bytes of all; they count against the connection.
    /// - Returns: an action to begin when the answer is on its way.
    package typealias Rest =
        @Sendable (inout JSONWriter, _ holds: @Sendable (_ bytes: Int) -> Void) async -> (@Sendable () -> Void)?
}

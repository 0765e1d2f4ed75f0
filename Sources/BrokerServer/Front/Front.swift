import BrokerRPC
import BrokerSocket
import BrokerValues

/// A protocol by which programs reach the ``RequestService``. Callers, limits, admission, log and audit are the same for all of
/// them; a front has only its messages and its answers.
package protocol Front: Sendable {
    var door: Door { get }
    var service: RequestService { get }
    /// Whether its clients hear notifications, such as that a page was opened.
    var hasNotifications: Bool { get }
    func converse() -> any Conversation
    /// The message for a peer that is turned away, delimiter included; empty where the protocol has none.
    func refusal(_ error: BrokerError) -> [UInt8]
    /// As above, of the bytes layer.
    func refusal(_ reason: ConnectionRefusal) -> [UInt8]
}

extension Front {
    package func refusal(_ reason: ConnectionRefusal) -> [UInt8] { refusal(BrokerError(reason)) }
}

/// One connection of a front. Lives on the reactor's thread.
package protocol Conversation: AnyObject {
    /// Cuts the bytes of the connection into messages. Called once, before any byte is read.
    func makeSplitter(limit: Int) -> any MessageSplitter

    /// Whether the connection ends when what was answered is sent.
    var isOver: Bool { get }

    /// Begins what a message asks for. The answer, delimiter included, is in the writer when this returns, unless a request waits.
    ///
    /// - Parameter refusal: the answer to each of its requests, if there is such.
    func begin(
        _ message: UnsafeRawBufferPointer, in context: ConnectionContext, refusing refusal: BrokerError?,
        _ writer: inout JSONWriter
    ) -> MessageHandling
}

/// How far a message came on the reactor's thread.
package enum MessageHandling: Sendable {
    /// The answer is written, or there is none.
    case answered
    /// So many requests wait for something: the rest is to be run in a task of its own.
    case waits(requests: Int, Rest)

    /// - Returns: what begins when the answer is on its way.
    package typealias Rest = @Sendable (inout JSONWriter) async -> (@Sendable () -> Void)?
}

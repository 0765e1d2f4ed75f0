import BrokerRPC
import BrokerValues

/// Where a front writes the answer to one request.
protocol Reply: Sendable {
    /// Whether the client gets the answer: a notification has none.
    var isAwaited: Bool { get }
    /// - Throws: if the answer cannot be given, because a secret does not open. Then nothing of it is left.
    mutating func give(_ answer: Answer, correlationID: String) throws(BrokerError)
    mutating func fail(_ error: BrokerError)
    /// For malformed params.
    mutating func refuse(_ error: RPCError)
}

/// The reason why a front has no request to begin.
enum RequestRefusal: Error {
    /// The params are malformed.
    case malformed(RPCError)
    /// The app that they name does not exist, or not for this caller.
    case refused(BrokerError)
}

/// The progress of a request on the reactor's thread.
enum Handling<R: Reply>: Sendable {
    case answered
    /// Run the rest in a task of its own.
    case waits(Rest)

    /// - Returns: an action to begin when the answer is on its way.
    typealias Rest = @Sendable (inout R) async -> (@Sendable () -> Void)?
}

import BrokerRPC
import BrokerValues

/// Where a front writes the answer to one request.
protocol Reply: Sendable {
    /// Whether the client gets the answer: a notification has none.
    var isAwaited: Bool { get }
    /// - Throws: when the answer cannot be given, because a secret does not open. Then nothing of it is left.
    mutating func give(_ answer: Answer, correlationID: String) throws(BrokerError)
    mutating func fail(_ error: BrokerError)
    /// The params were in no order.
    mutating func refuse(_ error: RPCError)
}

/// Why a front has no request to begin.
enum RequestRefusal: Error {
    /// The params are in no order.
    case malformed(RPCError)
    /// What they name is not there, or not for this caller.
    case refused(BrokerError)
}

/// How far a request came on the reactor's thread.
enum Handling<R: Reply>: Sendable {
    case answered
    /// The rest is to be run in a task of its own.
    case waits(Rest)

    /// - Returns: what begins when the answer is on its way.
    typealias Rest = @Sendable (inout R) async -> (@Sendable () -> Void)?
}

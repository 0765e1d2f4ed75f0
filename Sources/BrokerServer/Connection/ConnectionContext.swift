import BrokerAccess
import BrokerEngine
import BrokerRPC
import BrokerValues
import Logging
import Synchronization

/// What all requests of one connection share. A class, so that handing it on costs one reference and not dozens.
final class ConnectionContext: Sendable {
    /// As it was judged when it connected.
    let caller: Caller
    /// Judges it again: for what needs proof. Since then it may have ended, and another process may hold the connection.
    let callerNow: @Sendable () -> Caller
    /// How many clients are connected.
    let connectionCount: @Sendable () -> Int
    private let send: @Sendable (_ line: JSONWriter) -> Void
    private let log: Logger
    /// What the client wants to be told about; it ends with the connection.
    private let subscription = Mutex<EventHub.Subscription?>(nil)

    /// - Parameter send: takes a line outside any answer.
    init(
        caller: Caller, callerNow: @escaping @Sendable () -> Caller, connectionCount: @escaping @Sendable () -> Int,
        send: @escaping @Sendable (_ line: JSONWriter) -> Void, log: Logger
    ) {
        self.caller = caller
        self.callerNow = callerNow
        self.connectionCount = connectionCount
        self.send = send
        self.log = log
    }

    func notify<N: BrokerNotification>(_ notification: N.Type, _ params: N.Params) {
        var line = JSONWriter()
        line.notification(notification, params)
        line.endLine()
        send(line)
    }

    var isSubscribed: Bool { subscription.withLock { $0 != nil } }

    /// Replaces what there was.
    func subscribe(_ subscription: EventHub.Subscription?) { self.subscription.withLock { $0 = subscription } }

    /// What the client is told of an error; the log is told what it is not.
    func rpcError(_ error: BrokerError, in method: String, _ correlationID: String?) -> RPCError {
        let error = error.correlated(correlationID ?? CorrelationID.make())
        var metadata: Logger.Metadata = [
            "method": "\(method)", "kind": "\(error.kind.rawValue)",
            "correlation_id": "\(error.details.correlationID ?? "")", "caller": "\(caller.id)",
        ]
        if let reason = error.reason { metadata["reason"] = "\(reason.rawValue)" }
        if let cause = error.cause { metadata["cause"] = "\(cause)" }
        log.log(level: error.kind == .internal ? .error : .info, "request answered with an error", metadata: metadata)
        return RPCError(error)
    }
}

import BrokerAccess
import BrokerEngine
import BrokerRPC
import BrokerValues
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
    /// What the client wants to be told about; it ends with the connection.
    private let subscription = Mutex<EventHub.Subscription?>(nil)

    /// - Parameter send: takes a line outside any answer.
    init(
        caller: Caller, callerNow: @escaping @Sendable () -> Caller, connectionCount: @escaping @Sendable () -> Int,
        send: @escaping @Sendable (_ line: JSONWriter) -> Void
    ) {
        self.caller = caller
        self.callerNow = callerNow
        self.connectionCount = connectionCount
        self.send = send
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
}

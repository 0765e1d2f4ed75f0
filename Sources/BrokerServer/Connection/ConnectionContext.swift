import BrokerAccess
import BrokerModel
import BrokerRPC
import BrokerSocket
import BrokerValues
import Synchronization

/// What all requests of one connection share. A class, so that handing it on costs one reference and not dozens.
final class ConnectionContext: Sendable {
    /// As it was judged when it connected.
    let caller: Caller
    /// Uptime.
    let connectedAt: Duration
    /// The user whose requests count together with the caller's.
    let payer: Partition
    let audited: AuditedCaller
    /// Judges it again: for what needs proof. Since then it may have ended, and another process may hold the connection.
    let callerNow: @Sendable () -> Caller
    /// Whether it stands elsewhere since it was judged (``PeerInspector/hasMoved(_:since:thoroughly:)``).
    let hasMoved: @Sendable (_ thoroughly: Bool) -> Bool
    /// How many clients are connected.
    let connectionCount: @Sendable () -> Int
    private let send: @Sendable (_ line: JSONWriter) -> Void
    /// Has the person asked about the caller, if there is a way.
    let askPerson: @Sendable () -> Void
    private let connected: ConnectedCallers
    private let number: UInt64
    /// What ends with the connection, or when another process goes on with it.
    let binding = ConnectionBinding()
    /// What the client wants to be told about; nil when it has gone.
    private let subscriptions = Mutex<[Subscription]?>([])

    /// - Parameter send: takes a line outside any answer.
    init(
        caller: Caller, connectedAt: Duration, payer: Partition, callerNow: @escaping @Sendable () -> Caller,
        hasMoved: @escaping @Sendable (_ thoroughly: Bool) -> Bool, connectionCount: @escaping @Sendable () -> Int,
        askPerson: @escaping @Sendable () -> Void, connected: ConnectedCallers,
        send: @escaping @Sendable (_ line: JSONWriter) -> Void
    ) {
        self.askPerson = askPerson
        self.hasMoved = hasMoved
        self.connected = connected
        number = connected.enter(caller)
        self.caller = caller
        self.connectedAt = connectedAt
        self.payer = payer
        audited = AuditedCaller(caller)
        self.callerNow = callerNow
        self.connectionCount = connectionCount
        self.send = send
    }

    /// The client has gone.
    func end() {
        subscriptions.withLock { $0 = nil }
        binding.end()
        connected.leave(number)
    }

    func notify<N: BrokerNotification>(_ notification: N.Type, _ params: N.Params) {
        var line = JSONWriter()
        line.notification(notification, params)
        line.endLine()
        send(line)
    }

    var isSubscribed: Bool { subscriptions.withLock { $0?.isEmpty == false } }

    /// Replaces what there was. A request that waited may come here when the client has gone: then they end with this call.
    func subscribe(_ new: [Subscription]) {
        subscriptions.withLock { subscriptions in
            if subscriptions != nil { subscriptions = new }
        }
    }
}

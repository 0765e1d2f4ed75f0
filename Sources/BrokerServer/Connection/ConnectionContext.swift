import BrokerAccess
import BrokerModel
import BrokerRPC
import BrokerValues
import Synchronization

/// The state shared by all requests of one connection. A class, so that passing it on costs one reference and not dozens.
package final class ConnectionContext: Sendable {
    /// The caller as inspected when it connected.
    package let caller: Caller
    /// Uptime.
    let connectedAt: Duration
    /// The user whose requests count together with the caller's.
    let payer: Partition
    let audited: AuditedCaller
    private let inspect: @Sendable () -> Caller
    /// The look that the requests of one message share.
    private struct Look {
        /// Set while they are begun.
        var isShared = false
        /// The number of the message.
        var number = 0
        var caller: Caller?
    }

    private let look = Mutex(Look())
    /// Whether it entered other namespaces or another root since then (``PeerInspector/hasMoved(_:since:thoroughly:)``).
    let hasMoved: @Sendable (_ thoroughly: Bool) -> Bool
    /// Whether the requesting process has ended. Another one may hold the connection, and gets no more answers.
    let hasEnded: @Sendable () -> Bool
    /// Number of connected clients.
    let connectionCount: @Sendable () -> Int
    /// Asks the person about the caller, if there is a way.
    let askPerson: @Sendable () -> Void
    /// Sends a line outside of any answer.
    let send: @Sendable (_ line: JSONWriter) -> Void
    private let all: AllConnections
    /// Among the connected callers.
    private let number: UInt64
    /// Ends with the connection, or when another process takes it over.
    let binding = ConnectionBinding()
    let watches: ConnectionWatches
    /// The client's subscriptions; `nil` when it has gone.
    private let subscriptions = Mutex<[Subscription]?>([])

    init(
        caller: Caller, by door: Door, connectedAt: Duration, payer: Partition, among all: AllConnections,
        callerNow: @escaping @Sendable () -> Caller,
        hasMoved: @escaping @Sendable (_ thoroughly: Bool) -> Bool, hasEnded: @escaping @Sendable () -> Bool,
        connectionCount: @escaping @Sendable () -> Int, askPerson: @escaping @Sendable () -> Void,
        send: @escaping @Sendable (_ line: JSONWriter) -> Void
    ) {
        self.caller = caller
        self.connectedAt = connectedAt
        self.payer = payer
        self.all = all
        audited = AuditedCaller(caller, by: door)
        number = all.callers.enter(caller)
        watches = ConnectionWatches(of: caller.claimant, payer, in: all.watches)
        inspect = callerNow
        self.hasMoved = hasMoved
        self.hasEnded = hasEnded
        self.connectionCount = connectionCount
        self.askPerson = askPerson
        self.send = send
    }

    /// Inspects the caller again, for requests that need proof. It may have ended since, and another process may hold the connection.
    @Sendable func callerNow() -> Caller {
        let before = look.withLock { $0 }
        if before.isShared, let known = before.caller { return known }
        let now = inspect()
        // A look that began before the message does not count for it.
        look.withLock { look in
            if before.isShared, look.isShared, look.number == before.number { look.caller = now }
        }
        return now
    }

    /// Begins the requests of one message: they arrived together, and share one look at the caller.
    func lookingOnce<Result>(_ begin: () -> Result) -> Result {
        look.withLock { $0 = Look(isShared: true, number: $0.number + 1) }
        defer {
            look.withLock { look in
                look.isShared = false
                look.caller = nil
            }
        }
        return begin()
    }

    /// Call when the client has gone.
    func end() {
        subscriptions.withLock { $0 = nil }
        watches.endAll()
        binding.end()
        all.callers.leave(number)
    }

    func notify<N: BrokerNotification>(_ notification: N.Type, _ params: N.Params) {
        var line = JSONWriter()
        line.notification(notification, params)
        line.endLine()
        send(line)
    }

    /// Whether the client waits for notifications, so that it keeps its slot.
    var isListening: Bool { subscriptions.withLock { $0?.isEmpty == false } || watches.keepSlot }

    /// Replaces the earlier subscriptions. If the client went while the request waited, the new ones end with this call.
    func subscribe(_ new: [Subscription]) {
        subscriptions.withLock { subscriptions in
            if subscriptions != nil { subscriptions = new }
        }
    }

    // MARK: Work without a request of the client

    /// The renewal of a watch counts as a request of its user; ``endWork()`` ends it.
    func beginWork() throws(BrokerError) {
        guard !all.requests.areTooMany(of: payer) else { throw UserRequests.tooMany }
        all.requests.begin(1, of: payer)
    }

    func endWork() { all.requests.end(1, of: payer) }
}

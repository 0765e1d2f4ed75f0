import BrokerAccess
import BrokerModel
import BrokerRPC
import BrokerSocket
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
    /// Inspects it again, for requests that need proof. It may have ended since, and another process may hold the connection.
    let callerNow: @Sendable () -> Caller
    /// Whether it entered other namespaces or another root since then (``PeerInspector/hasMoved(_:since:thoroughly:)``).
    let hasMoved: @Sendable (_ thoroughly: Bool) -> Bool
    /// Whether the requesting process has ended. Another one may hold the connection, and gets no more answers.
    let hasEnded: @Sendable () -> Bool
    /// Number of connected clients.
    let connectionCount: @Sendable () -> Int
    /// Sends a line outside of any answer.
    let send: @Sendable (_ line: JSONWriter) -> Void
    private let ofUsers: UserRequests
    /// Asks the person about the caller, if there is a way.
    let askPerson: @Sendable () -> Void
    private let connected: ConnectedCallers
    private let number: UInt64
    /// Ends with the connection, or when another process takes it over.
    let binding = ConnectionBinding()
    /// The client's subscriptions; `nil` when it has gone.
    private let subscriptions = Mutex<[Subscription]?>([])
    /// Watches by name; `nil` when the client has gone.
    private let watches = Mutex<[String: TokenWatch]?>([:])
    private let watchNames = Atomic<UInt64>(0)
    /// Keeps its slot while it watches.
    private let stay = Mutex<Watches.Place?>(nil)

    /// - Parameter send: sends a line outside of any answer.
    init(
        caller: Caller, by door: Door, connectedAt: Duration, payer: Partition,
        callerNow: @escaping @Sendable () -> Caller,
        hasMoved: @escaping @Sendable (_ thoroughly: Bool) -> Bool, hasEnded: @escaping @Sendable () -> Bool,
        connectionCount: @escaping @Sendable () -> Int,
        askPerson: @escaping @Sendable () -> Void, connected: ConnectedCallers, ofUsers: UserRequests,
        send: @escaping @Sendable (_ line: JSONWriter) -> Void
    ) {
        self.askPerson = askPerson
        self.hasMoved = hasMoved
        self.hasEnded = hasEnded
        self.connected = connected
        number = connected.enter(caller)
        self.caller = caller
        self.connectedAt = connectedAt
        self.payer = payer
        audited = AuditedCaller(caller, by: door)
        self.callerNow = callerNow
        self.connectionCount = connectionCount
        self.send = send
        self.ofUsers = ofUsers
    }

    /// Call when the client has gone.
    func end() {
        subscriptions.withLock { $0 = nil }
        let watches = watches.withLock { watches in
            defer { watches = nil }
            return watches ?? [:]
        }
        for watch in watches.values { watch.end() }
        stay.withLock { $0 = nil }
        binding.end()
        connected.leave(number)
    }

    func notify<N: BrokerNotification>(_ notification: N.Type, _ params: N.Params) {
        var line = JSONWriter()
        line.notification(notification, params)
        line.endLine()
        send(line)
    }

    /// Whether the client waits for notifications, so that it keeps its slot.
    var isListening: Bool { subscriptions.withLock { $0?.isEmpty == false } || stay.withLock { $0 != nil } }

    /// Replaces the earlier subscriptions. If the client went while the request waited, the new ones end with this call.
    func subscribe(_ new: [Subscription]) {
        subscriptions.withLock { subscriptions in
            if subscriptions != nil { subscriptions = new }
        }
    }
}

// MARK: - Watches

extension ConnectionContext {
    /// - Throws: `throttled`.
    func nameWatch() throws(BrokerError) -> String {
        guard watches.withLock({ $0?.count ?? 0 }) < Watches.mostEach else { throw Self.tooManyWatches }
        return "w\(watchNames.add(1, ordering: .relaxed).newValue)"
    }

    /// - Returns: false if the client has gone, or has too many that began at the same time; it is notified of the latter.
    func keep(_ watch: TokenWatch) -> Bool {
        let isFull: Bool? = watches.withLock { watches in
            guard let count = watches?.count else { return nil }
            if count < Watches.mostEach { watches?[watch.name] = watch }
            return count >= Watches.mostEach
        }
        if isFull == true { notify(TokenEnded.self, .init(watch: watch.name, RPCError(Self.tooManyWatches))) }
        guard isFull == false else { return false }
        stay.withLock { stay in if stay == nil { stay = watch.stay } }
        return true
    }

    /// - Returns: whether the watch existed.
    @discardableResult
    func forget(_ watch: String) -> Bool { take(watch) != nil }

    func unwatch(_ name: String) -> Bool {
        guard let watch = take(name) else { return false }
        watch.end()
        return true
    }

    private func take(_ name: String) -> TokenWatch? {
        let (watch, isLast) = watches.withLock { watches in
            (watches?.removeValue(forKey: name), watches?.isEmpty ?? true)
        }
        if isLast { stay.withLock { $0 = nil } }
        return watch
    }

    func endWatches(with error: BrokerError) {
        for watch in watches.withLock({ Array(($0 ?? [:]).values) }) { watch.end(telling: error) }
    }

    private static let tooManyWatches = Watches.tooMany("This connection has \(Watches.mostEach) watches already")

    /// A renewal counts as a request of its user; ``endWork()`` ends it.
    func beginWork() throws(BrokerError) {
        guard !ofUsers.areTooMany(of: payer) else { throw UserRequests.tooMany }
        ofUsers.begin(1, of: payer)
    }

    func endWork() { ofUsers.end(1, of: payer) }
}

import BrokerRPC
import BrokerValues
import Synchronization

/// The connection to the broker: connects with the first call, and again after the broker restarted.
///
/// Safe to share between tasks; all calls go over one connection and are answered in any order.
package final class BrokerConnection: Sendable {
    package let location: SocketLocation
    private let patience: Duration
    private let liveness: Liveness
    private let pause: @Sendable (Duration) async throws -> Void
    private let current = Mutex<Link?>(nil)
    /// How long to wait for room in the queue of a busy broker, if the request has no limit of its own.
    static let roomPatience = Duration.seconds(60)

    /// - Parameters:
    ///   - patience: how long a call whose connection was lost tries to reconnect: the time of a restart.
    ///   - liveness: when to check whether the broker still answers; an answer itself may take any time.
    ///   - pause: waits between two attempts.
    package init(
        location: SocketLocation, patience: Duration = .seconds(3), liveness: Liveness = Liveness(),
        pause: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.location = location
        self.patience = patience
        self.liveness = liveness
        self.pause = pause
    }

    deinit { close() }

    /// Ends the connection, and with it interactions that wait on it. The next call connects anew.
    package func close() {
        current.withLock { link in
            link?.close()
            link = nil
        }
    }

    /// Calls one method of the protocol.
    ///
    /// A request that the broker cannot have seen is sent again on a new connection. One that was refused because the
    /// broker stops is sent once more, because it was not executed; one whose answer was lost only if executing it
    /// twice does no harm. Otherwise the call fails.
    ///
    /// - Throws: the broker's error, or ``BrokerClientError/Code/brokerNotAvailable``,
    ///   ``BrokerClientError/Code/brokerNotTrusted``, ``BrokerClientError/Code/connectionLost``,
    ///   ``BrokerClientError/Code/invalidResponse``, ``BrokerClientError/Code/canceled``.
    package func call<Method: BrokerMethod>(
        _ method: Method.Type, _ params: Method.Params
    ) async throws(BrokerClientError) -> Method.Result {
        try .decoded(try await result(of: method, params))
    }

    /// Like ``call(_:_:)``, with the result as the broker wrote it.
    package func result<Method: BrokerMethod>(
        of method: Method.Type, _ params: Method.Params
    ) async throws(BrokerClientError) -> JSONNode {
        try await answer(to: Request(method, params))
    }

    /// - Parameter observer: receives the connection's notifications; for one request at a time.
    func answer(to request: Request, observer: Link.Observer? = nil) async throws(BrokerClientError) -> JSONNode {
        var deadline: ContinuousClock.Instant?
        var pauses = Pauses(pause)
        var repetition = RetryPolicy(isIdempotent: request.isIdempotent, at: location)
        while true {
            let link = try await connected(until: deadline)
            let outcome = await link.exchange(at: location, liveness, observer: observer, line: request.line)
            if outcome.announcesStop { leave(link) }
            switch repetition.verdict(on: outcome) {
            case .result(let result): return result
            case .failure(let error): throw error
            case .again(let error):
                leave(link)
                deadline = deadline ?? ContinuousClock.now + patience
                try await pauses.next(before: deadline, otherwise: error)
            }
        }
    }

    /// New calls use another connection; those that still wait on this one are answered.
    private func leave(_ link: Link) {
        current.withLock { if $0 === link { $0 = nil } }
    }

    private func connected(until deadline: ContinuousClock.Instant?) async throws(BrokerClientError) -> Link {
        var pauses = Pauses(pause)
        let busyEnd = ContinuousClock.now + Self.roomPatience
        while true {
            do {
                return try openLink()
            } catch {
                // A busy broker is running; a broker that was running a moment ago may be restarting. Waiting changes
                // nothing else.
                let end = error == .busy ? busyEnd : deadline
                let failure = BrokerClientError(error, location)
                guard error == .busy || error == .notRunning else { throw failure }
                try await pauses.next(before: end, otherwise: failure)
            }
        }
    }

    private func openLink() throws(ConnectFailure) -> Link {
        try current.withLock { link throws(ConnectFailure) in
            if let link, link.isOpen { return link }
            let opened = try Link.open(location)
            link = opened
            return opened
        }
    }
}

/// Waits between attempts, longer each time.
private struct Pauses {
    let sleep: @Sendable (Duration) async throws -> Void
    private var pause = Duration.milliseconds(5)

    init(_ sleep: @escaping @Sendable (Duration) async throws -> Void) { self.sleep = sleep }

    /// - Throws: `failure` if there is no `deadline` or it has passed.
    mutating func next(
        before deadline: ContinuousClock.Instant?, otherwise failure: BrokerClientError
    ) async throws(BrokerClientError) {
        guard let deadline, ContinuousClock.now < deadline else { throw failure }
        do { try await sleep(pause) } catch { throw .taskCancelled }
        pause = min(pause * 2, .milliseconds(200))
    }
}

import BrokerModel
import BrokerValues
import Synchronization

/// What waits for a person: a sign-in in a browser, a code to be typed in elsewhere, the end of a browser's session.
protocol WaitingInteraction: Sendable {
    var id: String { get }
    var partition: Partition { get }

    /// - Returns: whether the redirect was the answer this one waits for.
    func take(_ redirect: RedirectParameters) -> Bool

    /// - Returns: whether the person was still being waited for.
    @discardableResult
    func end(_ error: BrokerError) -> Bool
}

/// The interactions that wait, so that a redirect, a cancel or somebody who wants the same can find its own.
final class InteractionRegistry: Sendable {
    private struct State {
        var sessions: [String: any WaitingInteraction] = [:]
        var flights: [SignInKey: SignInFlight] = [:]
    }

    private let state = Mutex(State())

    func add(_ session: some WaitingInteraction) { state.withLock { $0.sessions[session.id] = session } }
    func remove(_ session: some WaitingInteraction) { state.withLock { $0.sessions[session.id] = nil } }

    func session(_ id: String, in partition: Partition) -> (any WaitingInteraction)? {
        state.withLock { $0.sessions[id] }.flatMap { $0.partition == partition ? $0 : nil }
    }

    /// Offers a redirect to everything that waits for the person; at most one takes it, for states are unique.
    func deliver(_ redirect: RedirectParameters, in partition: Partition) -> Bool {
        waiting.contains { $0.partition == partition && $0.take(redirect) }
    }

    func endAll(_ error: BrokerError) { for session in waiting { session.end(error) } }

    private var waiting: [any WaitingInteraction] { state.withLock { Array($0.sessions.values) } }

    // MARK: Sign-ins that can be joined

    struct Joining {
        let flight: SignInFlight
        let waiter: Int
        /// The caller starts a new flight.
        let isNew: Bool
        /// The window is open already.
        let isLate: Bool
    }

    /// Joins the flight with this key, or makes a new one.
    func join(_ key: SignInKey, _ waiter: SignInFlight.Waiter, newSession: () -> InteractionSession) -> Joining {
        state.withLock { state in
            if let flight = state.flights[key] {
                switch flight.join(waiter) {
                case .early(let number): return Joining(flight: flight, waiter: number, isNew: false, isLate: false)
                case .late(let number): return Joining(flight: flight, waiter: number, isNew: false, isLate: true)
                case .tooLate: break
                }
            }
            let flight = SignInFlight(key, session: newSession(), first: waiter)
            state.flights[key] = flight
            state.sessions[flight.session.id] = flight.session
            return Joining(flight: flight, waiter: SignInFlight.firstWaiter, isNew: true, isLate: false)
        }
    }

    func remove(_ flight: SignInFlight) {
        remove(flight.session)
        // One that ended may have been succeeded already.
        state.withLock { if $0.flights[flight.key] === flight { $0.flights[flight.key] = nil } }
    }
}

import BrokerModel
import BrokerValues
import Synchronization

/// One browser window, and everybody who waits for what comes of it.
///
/// A flight belongs to the broker. A waiter may leave; the sign-in ends when the last has left, when
/// anybody cancels it, or when the person is done: then all are answered alike.
final class SignInFlight: Sendable {
    typealias Outcome = Result<AcquiredToken, BrokerError>

    /// One request that waits.
    struct Waiter: Sendable {
        let expiresOn: NumericDate
        let correlationID: String
        let presentation: Presentation
        let onOpen: @Sendable (InteractionOpening) -> Void
        let onJoin: @Sendable (InteractionJoining) -> Void
        let outcome = Promise<Outcome>()

        init(
            _ request: InteractiveRequest, now: NumericDate, onOpen: @escaping @Sendable (InteractionOpening) -> Void,
            onJoin: @escaping @Sendable (InteractionJoining) -> Void
        ) {
            expiresOn = now + request.timeout
            correlationID = request.correlationID
            presentation = request.presentation
            self.onOpen = onOpen
            self.onJoin = onJoin
        }
    }

    /// What became of somebody who wanted to join.
    enum Joining {
        /// In time: the window is not open yet, and one of those who wait will be asked to open it.
        case early(waiter: Int)
        /// The window is open.
        case late(waiter: Int)
        case tooLate
    }

    private struct State {
        var waiters: [Int: Waiter]
        var nextWaiter = SignInFlight.firstWaiter + 1
        var isPresented = false
        var isOver = false
    }

    let key: SignInKey
    let session: InteractionSession
    private let state: Mutex<State>

    static let firstWaiter = 0

    init(_ key: SignInKey, session: InteractionSession, first waiter: Waiter) {
        self.key = key
        self.session = session
        state = Mutex(State(waiters: [Self.firstWaiter: waiter]))
    }

    func join(_ waiter: Waiter) -> Joining {
        // Somebody who starts again right after a cancel gets a new window, not the old one's end.
        guard !session.isEnded else { return .tooLate }
        return state.withLock { state in
            guard !state.isOver else { return .tooLate }
            defer { state.nextWaiter += 1 }
            state.waiters[state.nextWaiter] = waiter
            return state.isPresented ? .late(waiter: state.nextWaiter) : .early(waiter: state.nextWaiter)
        }
    }

    /// Removes a waiter while the person has not answered yet. Afterwards the outcome is near, and the waiter gets it.
    func leave(_ number: Int, _ error: BrokerError) {
        let waiter: Waiter? = state.withLock { state in
            guard session.isOpen, let waiter = state.waiters[number] else { return nil }
            guard state.waiters.count > 1 else {
                session.end(error)
                return nil
            }
            state.waiters[number] = nil
            return waiter
        }
        waiter?.outcome.fulfil(.failure(error))
    }

    /// The window is about to open.
    ///
    /// - Returns: who is asked to open it, and who only learns of it; nobody when all have left.
    func present() -> (opener: Waiter?, others: [Waiter]) {
        let waiters = state.withLock { state in
            state.isPresented = true
            return state.waiters.sorted { $0.key < $1.key }.map(\.value)
        }
        return (waiters.first, Array(waiters.dropFirst()))
    }

    func finish(_ outcome: Outcome) {
        let waiters = state.withLock { state in
            state.isOver = true
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.outcome.fulfil(outcome) }
    }
}

extension SignInFlight.Waiter {
    func joined(_ session: InteractionSession) {
        onJoin(
            InteractionJoining(interactionID: session.id, expiresOn: expiresOn, correlationID: correlationID))
    }
}

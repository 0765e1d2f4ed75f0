import BrokerModel
import BrokerValues
import Synchronization

/// One browser window, and all requests that wait for its outcome.
///
/// A flight belongs to the broker. A waiter may leave; the sign-in ends when the last has left, when it is canceled, or when the
/// person is done: then all get the same answer.
final class SignInFlight: Sendable {
    typealias Outcome = Result<AcquiredToken, BrokerError>

    /// One request that waits.
    final class Waiter: Sendable {
        let expiresOn: NumericDate
        let correlationID: String
        let presentation: Presentation
        /// ``InteractiveRequest/elsewhere``.
        let elsewhere: String?
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
            elsewhere = request.elsewhere
            self.onOpen = onOpen
            self.onJoin = onJoin
        }
    }

    /// How a request came to a flight.
    enum Joining {
        /// The caller has to start it.
        case first
        /// The window is not open yet, and one of the waiting requests will be asked to open it.
        case beforeOpening
        /// The window is open.
        case afterOpening
    }

    private struct State {
        /// The waiting requests in the order of arrival.
        var waiters: [Waiter]
        var isPresented = false
        var isOver = false
    }

    let key: SignInKey
    /// Receives the answer that the provider sends back with the browser.
    let interaction: Interaction<RedirectCheck.AuthorizationCode>
    private let state: Mutex<State>

    init(_ key: SignInKey, _ interaction: Interaction<RedirectCheck.AuthorizationCode>, first waiter: Waiter) {
        self.key = key
        self.interaction = interaction
        state = Mutex(State(waiters: [waiter]))
    }

    /// - Returns: `nil` if it is too late for that.
    func join(_ waiter: Waiter) -> Joining? {
        state.withLock { state in
            // A request made right after a cancel, an erasure or a sign-out gets a new window, not the old one's end. The last
            // waiter to leave ends the interaction under this lock.
            guard !state.isOver, !interaction.hasFailed, !interaction.erasures.concerns(key) else { return nil }
            state.waiters.append(waiter)
            return state.isPresented ? .afterOpening : .beforeOpening
        }
    }

    /// Removes a waiter while the person has not answered yet. Afterwards the outcome is near, and the waiter gets it.
    func leave(_ waiter: Waiter, _ error: BrokerError) {
        let hasLeft = state.withLock { state in
            guard interaction.isOpen, let place = state.waiters.firstIndex(where: { $0 === waiter }) else {
                return false
            }
            guard state.waiters.count > 1 else {
                interaction.end(error)
                return false
            }
            state.waiters.remove(at: place)
            return true
        }
        if hasLeft { waiter.outcome.fulfil(.failure(error)) }
    }

    /// Called when the window is about to open: notifies all waiters but the one that opens it.
    ///
    /// - Returns: the waiter that opens it; `nil` if all have left.
    func present() -> Waiter? {
        let waiters = state.withLock { state in
            // The last to leave ends the interaction, and stays for its outcome.
            guard interaction.isOpen else { return [Waiter]() }
            state.isPresented = true
            return state.waiters
        }
        for waiter in waiters.dropFirst() { tell(waiter) }
        return waiters.first
    }

    /// Notifies a waiter that the window is, or will be, opened for another request.
    func tell(_ waiter: Waiter) {
        waiter.onJoin(
            InteractionJoining(
                interactionID: interaction.id, expiresOn: waiter.expiresOn, correlationID: waiter.correlationID))
    }

    func finish(_ outcome: Outcome) {
        let waiters = state.withLock { state in
            state.isOver = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.outcome.fulfil(outcome) }
    }
}

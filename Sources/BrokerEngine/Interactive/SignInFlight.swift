import BrokerModel
import BrokerValues
import Synchronization

/// One browser window, and everybody who waits for what comes of it.
///
/// A flight belongs to the broker. Who waits has a seat, and may leave it; the sign-in ends when the last has left, when
/// anybody cancels it, or when the person is done: then all are answered alike.
final class SignInFlight: Sendable {
    typealias Outcome = Result<AcquiredToken, BrokerError>

    /// One request that waits.
    struct Seat: Sendable {
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
        case early(seat: Int)
        /// The window is open.
        case late(seat: Int)
        case tooLate
    }

    private struct State {
        var seats: [Int: Seat]
        var nextSeat = SignInFlight.firstSeat + 1
        var isPresented = false
        var isOver = false
    }

    let wish: SignInWish
    let session: InteractionSession
    private let state: Mutex<State>

    static let firstSeat = 0

    init(_ wish: SignInWish, session: InteractionSession, first seat: Seat) {
        self.wish = wish
        self.session = session
        state = Mutex(State(seats: [Self.firstSeat: seat]))
    }

    func join(_ seat: Seat) -> Joining {
        // Somebody who starts again right after a cancel gets a new window, not the old one's end.
        guard !session.isEnded else { return .tooLate }
        return state.withLock { state in
            guard !state.isOver else { return .tooLate }
            defer { state.nextSeat += 1 }
            state.seats[state.nextSeat] = seat
            return state.isPresented ? .late(seat: state.nextSeat) : .early(seat: state.nextSeat)
        }
    }

    /// Gives up a seat while the person is still being waited for; afterwards the outcome is near, and kept.
    func leave(_ number: Int, _ error: BrokerError) {
        let seat: Seat? = state.withLock { state in
            guard session.isOpen, let seat = state.seats[number] else { return nil }
            guard state.seats.count > 1 else {
                session.end(error)
                return nil
            }
            state.seats[number] = nil
            return seat
        }
        seat?.outcome.fulfil(.failure(error))
    }

    /// The window is about to open.
    ///
    /// - Returns: who is asked to open it, and who only learns of it; nobody when all have left.
    func present() -> (opener: Seat?, others: [Seat]) {
        let seats = state.withLock { state in
            state.isPresented = true
            return state.seats.sorted { $0.key < $1.key }.map(\.value)
        }
        return (seats.first, Array(seats.dropFirst()))
    }

    func finish(_ outcome: Outcome) {
        let seats = state.withLock { state in
            state.isOver = true
            defer { state.seats = [:] }
            return state.seats.values
        }
        for seat in seats { seat.outcome.fulfil(outcome) }
    }
}

extension SignInFlight.Seat {
    func joined(_ session: InteractionSession) {
        onJoin(
            InteractionJoining(interactionID: session.id, expiresOn: expiresOn, correlationID: correlationID))
    }
}

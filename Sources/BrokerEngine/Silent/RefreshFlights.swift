import BrokerModel
import BrokerTokenCache
import BrokerValues
import Synchronization

/// One refresh at a time for a refresh token; callers with equal requests share its outcome.
///
/// A flight belongs to the broker: it runs to its end even if no caller waits. If the provider takes too long, the waiting callers
/// get an error, and the flight goes on: a late response still holds the only good refresh token.
final class RefreshFlights: Sendable {
    typealias Outcome = Result<AcquiredToken, BrokerError>

    /// The content of a request. Different requests that redeem one token take turns.
    struct Request: Sendable, Hashable {
        var clientID: String
        var scopes: Scopes
        var authority: Authority
        var tokenType: TokenType
        var claims: String?
        var resources: [String]
        var lifetimeOf: MeasuredToken
        var parameters: [String: String]

        init(_ request: SilentRequest) {
            clientID = request.app.clientID
            scopes = request.scopes
            authority = request.target
            tokenType = request.tokenType
            claims = request.claims
            resources = request.resources
            lifetimeOf = request.query.lifetimeOf
            parameters = request.extraParameters
        }
    }

    enum Joining: Sendable {
        /// The flight of an equal request: newly started, or already in progress.
        case joined(Promise<Outcome>)
        /// Another request redeems the token; look again when it is done, unless it fails for being late.
        case wait(Promise<Outcome>)

        var answer: Promise<Outcome> {
            switch self {
            case .joined(let answer), .wait(let answer): answer
            }
        }
    }

    private struct Flight {
        let request: Request
        /// The callers' answer; it may be there before the task's end.
        let answer: Promise<Outcome>
        let task: Task<Void, Never>
        /// When callers must stop waiting; `nil` once they have been answered.
        var lateAt: Duration?
        /// Owners signed out meanwhile, with `revoke`.
        var revoked: Set<OwnerKey> = []
    }

    private let clock: any BrokerClock
    private let gate: LockGate
    private let patience: @Sendable () -> Duration
    static let limit = 4_096
    /// The shortest time between two checks of all flights.
    private static let glance = Duration.milliseconds(50)

    private struct State {
        var flights: [OwnerKey: Flight] = [:]
        var places = FairQuota<Partition, GroupID>(limit: RefreshFlights.limit)
        /// The answer instead of a new flight, while the broker stops.
        var refusal: BrokerError?
        /// Checks for late flights while there are any.
        var watch: Task<Void, Never>?

        mutating func end(_ key: OwnerKey) {
            flights[key] = nil
            if flights.isEmpty {
                watch?.cancel()
                watch = nil
            }
            places.leave(for: key.owner.group, of: key.partition)
        }
    }
    private let state = Mutex(State())

    /// - Parameter patience: how long callers wait for a flight.
    init(clock: any BrokerClock, gate: LockGate, patience: @escaping @Sendable () -> Duration) {
        self.clock = clock
        self.gate = gate
        self.patience = patience
    }

    var count: Int { state.withLock { $0.flights.count } }

    /// - Parameter key: the owner of the refresh token.
    func join(
        _ key: OwnerKey, for request: Request, start: @escaping @Sendable () async -> Outcome
    ) -> Joining {
        state.withLock { state in
            if let flight = state.flights[key] {
                return flight.request == request ? .joined(flight.answer) : .wait(flight.answer)
            }
            let answer = Promise<Outcome>()
            let hasRoom = state.refusal == nil && state.places.take(for: key.owner.group, of: key.partition)
            guard hasRoom else {
                answer.fulfil(.failure(state.refusal ?? Self.tooMany))
                return .joined(answer)
            }
            // The broker is not locked until the provider's response is kept.
            gate.join()
            let task = Task {
                defer { gate.leave() }
                let outcome = await start()
                self.state.withLock { $0.end(key) }
                answer.fulfil(outcome)
            }
            state.flights[key] = Flight(
                request: request, answer: answer, task: task, lateAt: clock.uptime + patience())
            if state.watch == nil { state.watch = watch() }
            return .joined(answer)
        }
    }

    /// One task for all flights of a burst: a cancelled sleep keeps its memory until its time, long after the flight.
    private func watch() -> Task<Void, Never> {
        Task { [weak self, clock] in
            while !Task.isCancelled, let next = self?.tellLate() {
                do { try await clock.sleep(for: max(next - clock.uptime, Self.glance)) } catch { return }
            }
        }
    }

    /// Answers the callers of late flights.
    ///
    /// - Returns: when the next one is late; `nil` if there is none.
    private func tellLate() -> Duration? {
        let (late, next) = state.withLock { [now = clock.uptime] state in
            let times = state.flights.compactMapValues(\.lateAt)
            let late = times.filter { $0.value <= now }.keys.map { key in
                state.flights[key]?.lateAt = nil
                return state.flights[key]?.answer
            }
            let next = times.values.filter { $0 > now }.min()
            if next == nil { state.watch = nil }
            return (late, next)
        }
        for answer in late { answer?.fulfil(.failure(Self.late)) }
        return next
    }

    /// Records that the person signed out with revocation, which includes the tokens that a flight in progress will bring.
    func revoke(_ owners: [OwnerKey]) {
        state.withLock { state in
            for owner in owners {
                for key in [owner, owner.ofFamilies] { state.flights[key]?.revoked.insert(owner) }
            }
        }
    }

    func isRevoked(_ owner: OwnerKey) -> Bool {
        state.withLock { state in
            [owner, owner.ofFamilies].contains { state.flights[$0]?.revoked.contains(owner) ?? false }
        }
    }

    /// Lets no flight begin any more.
    func refuse(with error: BrokerError) { state.withLock { $0.refusal = error } }

    func finishAll() async {
        while let flight = state.withLock({ $0.flights.values.first }) { await flight.task.value }
    }

    private static let late = BrokerError(
        .timedOut,
        "The provider takes long to answer; the broker goes on waiting for it, so try again in a moment.",
        reason: .answerPending)

    private static let tooMany = BrokerError(
        .throttled, "Too many sign-ins of this app are being refreshed already; try again in a moment.")
}

extension RefreshFlights.Outcome {
    /// Whether the flight goes on after this answer: its token must not be redeemed by another one meanwhile.
    var isPending: Bool {
        if case .failure(let error) = self { error.reason == .answerPending } else { false }
    }
}

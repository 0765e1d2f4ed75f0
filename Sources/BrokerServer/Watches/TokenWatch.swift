import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues
import Synchronization

/// One `token.watch`: the token that its client has, and when to look for the next. ``Watches`` does the looking.
final class TokenWatch: Sendable {
    /// Unique in its connection.
    let name: String
    let context: ConnectionContext
    /// The account of the first token.
    let accountID: String
    let app: AppRegistration
    /// Whether its client named an account, rather than taking the only one.
    let namesAccount: Bool
    /// The params that all renewals have in common.
    let params: WatchToken.Params
    private let place: Subscription
    private let clock: any BrokerClock
    private let state: Mutex<State>

    private struct State {
        var schedule: WatchSchedule
        var held: HeldToken
        var grant: GrantInUse? { didSet { grantEnd = grant?.expiresOn } }
        /// The end of the grant, until a check was scheduled for it.
        var grantEnd: NumericDate?
        var check: Task<Void, Never>?
        var hasBegun = false
        var hasEnded = false
        /// A token is on its way to the client.
        var isTelling = false
        /// The reason for its end, to be sent after that token.
        var ending: BrokerError?

        /// Whether nothing is in the way of a check.
        var isFree: Bool { hasBegun && !hasEnded && check == nil }
    }

    /// - Parameters:
    ///   - first: the token of the answer, about to be sent.
    ///   - place: its place among all watches.
    init(
        _ name: String, of request: Request<WatchToken>, _ first: AcquiredToken, _ held: HeldToken,
        _ times: WatchSchedule.Times, at place: Subscription, clock: any BrokerClock
    ) {
        self.name = name
        self.place = place
        self.clock = clock
        context = request.context
        app = request.app
        accountID = first.account.id
        namesAccount = request.params.query.account != nil
        params = request.params.standing(of: first.account.id)
        state = Mutex(
            State(
                schedule: WatchSchedule(times, at: clock.now, clock.uptime), held: held, grant: request.grant,
                grantEnd: request.grant?.expiresOn))
    }

    var partition: Partition { context.caller.partition }
    var grant: GrantInUse? { state.withLock(\.grant) }
    var held: HeldToken { state.withLock(\.held) }

    var renewalParams: WatchToken.Params {
        var params = params
        params.query.minimumLifetime = held.minimumLifetime
        return params
    }

    // MARK: Beginning and end

    func begin() { state.withLock { $0.hasBegun = true } }

    func end() {
        let check = state.withLock { state in
            state.hasEnded = true
            defer { state.check = nil }
            return state.check
        }
        check?.cancel()
    }

    /// - Returns: false if it has not begun, has ended, or ends once the token that is on its way is sent (``delivered()``).
    func ends(with error: BrokerError) -> Bool {
        state.withLock { state in
            if state.isTelling { state.ending = state.ending ?? error }
            guard state.hasBegun, !state.hasEnded, !state.isTelling else { return false }
            state.hasEnded = true
            return true
        }
    }

    // MARK: Checks

    func glance(soon: Bool) { state.withLock { $0.schedule.glance(soon: soon, at: clock.uptime) } }

    /// The time until the next check; `nil` during one, and after the end.
    var wait: Duration? {
        state.withLock { state in
            guard state.isFree else { return nil }
            let now = clock.now
            let wait = state.schedule.wait(at: now, clock.uptime)
            guard let end = state.grantEnd else { return wait }
            guard end <= now else { return min(wait, .seconds(end - now)) }
            state.grantEnd = nil
            state.schedule.glance(soon: true, at: clock.uptime)
            return .zero
        }
    }

    /// Runs the due checks in a task of its own, unless one is under way.
    func check(_ run: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            if state.isFree { state.check = Task { await run() } }
        }
    }

    /// - Returns: the due check; `nil` if there is none, and the task ends.
    func next() -> WatchSchedule.Look? {
        state.withLock { state in
            let look = state.hasEnded ? nil : state.schedule.look(at: clock.now, clock.uptime)
            if look == nil { state.check = nil }
            return look
        }
    }

    /// - Returns: the next step; call ``delivered()`` when it is done.
    func take(_ result: WatchResult, of look: WatchSchedule.Look) -> WatchSchedule.Step {
        state.withLock { state in
            guard !state.hasEnded else { return .goOn }
            if case .another(let newToken) = result { (state.held, state.grant) = (newToken.held, newToken.grant) }
            let step = state.schedule.found(result.finding, by: look, at: clock.now, clock.uptime)
            if case .tell = step { state.isTelling = true }
            return step
        }
    }

    /// - Returns: the reason to end now, which came while a token was on its way.
    func delivered() -> BrokerError? {
        state.withLock { state in
            state.isTelling = false
            return state.ending
        }
    }
}

extension WatchToken.Params {
    /// The params for the renewals.
    fileprivate func standing(of accountID: String) -> WatchToken.Params {
        var params = self
        params.forceRefresh = false
        params.rejectedToken = nil
        params.waitForGrant = nil
        params.query.account = .id(accountID)
        // The person has proved who they are; no refresh repeats it.
        params.query.challenge = params.query.challenge?.withoutStepUp
        return params
    }

    /// For a token from another caller's refresh: it need not live for as long as was asked for, or two such watches would have
    /// each other's tokens renewed without end.
    var relaxed: WatchToken.Params {
        var params = self
        params.query.minimumLifetime = nil
        return params
    }
}

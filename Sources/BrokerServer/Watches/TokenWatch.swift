import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues
import Synchronization

/// One `token.watch`: what its client has, and one look at a time for the next.
final class TokenWatch: Sendable {
    /// Of its connection.
    let name: String
    let context: ConnectionContext
    /// Of the first token.
    let accountID: String
    let app: AppRegistration
    /// Whether its client named one, or took the one that was there.
    let namesAccount: Bool
    /// What is asked for at each renewal.
    let params: WatchToken.Params
    private let looks: WatchChecks
    private let place: Watches.Place
    private let state: Mutex<State>

    private struct State {
        var schedule: WatchSchedule
        var held: HeldToken
        var grant: GrantInUse? { didSet { grantEnd = grant?.expiresOn } }
        /// Until it was looked at once it is over.
        var grantEnd: NumericDate?
        var look: Task<Void, Never>?
        var hasBegun = false
        var hasEnded = false
        /// A token is on its way to the client.
        var isTelling = false
        /// Why it is over, to be told after that token.
        var ending: BrokerError?
    }

    /// The token that the client has.
    struct HeldToken: Sendable {
        let box: [UInt8]
        /// ``TokenBroker/fingerprint(of:)``
        let fingerprint: Int
    }

    /// - Parameter first: is about to be answered.
    init(
        _ name: String, of request: Request<WatchToken>, _ first: AcquiredToken, _ place: Watches.Place,
        _ looks: WatchChecks
    ) throws(BrokerError) {
        self.name = name
        self.place = place
        self.looks = looks
        context = request.context
        app = request.app
        accountID = first.account.id
        namesAccount = request.params.query.account != nil
        params = request.params.standing(of: first.account.id)
        let clock = looks.clock
        state = Mutex(
            State(
                schedule: WatchSchedule(
                    looks.times(of: first, params.minimumLifetime), at: clock.now, clock.uptime),
                held: try looks.held(first), grant: request.grant, grantEnd: request.grant?.expiresOn))
    }

    var partition: Partition { context.caller.partition }
    /// ``Watches/stay(of:_:)``
    var stay: Watches.Place? { looks.watches.stay(of: context.caller.claimant, context.payer) }
    var grant: GrantInUse? { state.withLock(\.grant) }
    var held: HeldToken { state.withLock(\.held) }

    /// The first token is on its way.
    func begin() {
        guard context.keep(self) else { return }
        state.withLock { $0.hasBegun = true }
        looks.watches.add(self)
        // What happened meanwhile it was not told of.
        glance(soon: true)
    }

    /// Nothing is told any more.
    func end() {
        let look = state.withLock { state in
            state.hasEnded = true
            defer { state.look = nil }
            return state.look
        }
        look?.cancel()
        looks.watches.remove(self)
    }

    func end(telling error: BrokerError) {
        let waits = state.withLock { state in
            if state.isTelling { state.ending = state.ending ?? error }
            let waits = state.isTelling || state.hasEnded || !state.hasBegun
            if !waits { state.hasEnded = true }
            return waits
        }
        guard !waits, context.forget(name) else { return }
        let told = looks.tokens.services.policy.fitting(error, context.caller).correlated(CorrelationID.make())
        context.notify(TokenEnded.self, .init(watch: name, RPCError(told)))
        end()
    }

    func glance(soon: Bool) {
        let clock = looks.clock
        state.withLock { $0.schedule.glance(soon: soon, at: clock.uptime) }
        looks.watches.reschedule(self)
    }

    /// How long until the next look; nil while there is one, and after the end.
    var wait: Duration? {
        let clock = looks.clock
        return state.withLock { state in
            guard state.hasBegun, !state.hasEnded, state.look == nil else { return nil }
            let now = clock.now
            let wait = state.schedule.wait(at: now, clock.uptime)
            guard let end = state.grantEnd else { return wait }
            guard end <= now else { return min(wait, .seconds(end - now)) }
            state.grantEnd = nil
            state.schedule.glance(soon: true, at: clock.uptime)
            return .zero
        }
    }

    /// Begins what is due, in a task of its own.
    func look() {
        state.withLock { state in
            guard state.hasBegun, !state.hasEnded, state.look == nil else { return }
            state.look = Task { await self.run() }
        }
    }

    private func run() async {
        while let look = next() {
            let result = await looks.look(look, of: self)
            await take(result, of: look)
        }
        looks.watches.reschedule(self)
    }

    private func next() -> WatchSchedule.Look? {
        let clock = looks.clock
        return state.withLock { state in
            let look = state.hasEnded ? nil : state.schedule.look(at: clock.now, clock.uptime)
            if look == nil { state.look = nil }
            return look
        }
    }

    private func take(_ result: WatchChecks.Result, of look: WatchSchedule.Look) async {
        let clock = looks.clock
        let step = state.withLock { state -> WatchSchedule.Step in
            guard !state.hasEnded else { return .goOn }
            if case .another(let news) = result { (state.held, state.grant) = (news.held, news.grant) }
            let step = state.schedule.found(result.finding, by: look, at: clock.now, clock.uptime)
            if case .tell = step { state.isTelling = true }
            return step
        }
        switch (step, result) {
        case (.goOn, _), (.tell, .same), (.tell, .failed): break
        case (.tell, .another(let news)): context.send(news.line)
        case (.end(let error), _): end(telling: error)
        }
        let ending = state.withLock { state in
            state.isTelling = false
            return state.ending
        }
        if let ending { end(telling: ending) }
    }
}

extension WatchToken.Params {
    /// The same for the renewals.
    fileprivate func standing(of accountID: String) -> WatchToken.Params {
        var params = self
        params.forceRefresh = false
        params.rejectedToken = nil
        params.waitForGrant = nil
        params.query.account = .id(accountID)
        // The person has proved who they are; no refresh does it again.
        params.query.challenge = params.query.challenge?.withoutStepUp
        return params
    }

    /// For a token that others' refreshes brought: it need not live for as long as was asked for, or two such watches would have
    /// one another's tokens renewed without end.
    var relaxed: WatchToken.Params {
        var params = self
        params.query.minimumLifetime = nil
        return params
    }
}

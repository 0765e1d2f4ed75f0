import BrokerModel
import BrokerTokenCache
import BrokerValues

/// Implements `token.acquireInteractive` for one request: it joins or starts the flight that fulfils the request, and waits for it.
/// The flight's work is in ``SignIn``.
final class InteractiveAcquisition: Sendable {
    private let cache: TokenCache
    private let interactions: InteractionRegistry
    private let signIn: SignIn
    private let gate: LockGate
    private let settings: SettingsBox
    private let clock: any BrokerClock

    init(
        cache: TokenCache, interactions: InteractionRegistry, signIn: SignIn, gate: LockGate, settings: SettingsBox,
        clock: any BrokerClock
    ) {
        (self.cache, self.interactions, self.signIn) = (cache, interactions, signIn)
        (self.gate, self.settings, self.clock) = (gate, settings, clock)
    }

    /// - Parameters:
    ///   - onOpen: called when this request's client has to open the window.
    ///   - onJoin: called when the window is, or will be, opened for another request.
    func acquire(
        _ request: InteractiveRequest, onOpen: @escaping @Sendable (InteractionOpening) -> Void,
        onJoin: @escaping @Sendable (InteractionJoining) -> Void
    ) async throws(BrokerError) -> AcquiredToken {
        try check(request)
        _ = try RedirectDestination.parse(request.redirectURI ?? request.app.redirectURI)
        let known = try cache.accounts(of: request.app, in: request.partition)
        let otherClouds = settings.otherClouds(of: request)
        let account = try request.account.map { selector throws(BrokerError) in
            guard let chosen = try resolve(selector, request, among: known, otherClouds) else {
                throw AccountChoice.notFound
            }
            return chosen
        }
        // A person who is only hinted at may have signed out as well.
        let hint = account == nil ? request.loginHint : nil
        let hinted = try hint.flatMap { name throws(BrokerError) in
            try resolve(.username(name), request, among: known, otherClouds)
        }
        let person = account ?? hinted
        let prompt = try PromptRule.prompt(
            asked: request.prompt,
            isSignedOut: person.map { !$0.isSignedIn }
                ?? PromptRule.isEverybodySignedOut(
                    among: known, for: request.app, at: request.target, otherClouds: otherClouds))
        let place = account.map { self.place(of: $0.who, request, otherClouds) } ?? request.target

        let waiter = SignInFlight.Waiter(request, now: clock.now, onOpen: onOpen, onJoin: onJoin)
        let key = SignInKey(request, at: place, account: account?.who, prompt: prompt)
        let (flight, joining) = try interactions.join(key, waiter) {
            SignInFlight(
                key,
                interactions.interaction(
                    for: request.app, of: request.claimant, isOutside: request.isOutside, in: request.partition),
                first: waiter)
        }
        switch joining {
        case .first:
            let plan = SignInPlan(
                request: request, authority: place,
                // An account's cloud is known; a person of another cloud cannot be its owner.
                otherClouds: account == nil ? otherClouds : [], prompt: prompt, account: account?.who,
                person: person?.who, startedAt: clock.now)
            return try await wait(in: waiter, of: flight, timeout: request.timeout) { begin(plan, in: flight) }
        case .beforeOpening: break
        case .afterOpening: flight.tell(waiter)
        }
        return try await wait(in: waiter, of: flight, timeout: request.timeout)
    }

    private func check(_ request: InteractiveRequest) throws(BrokerError) {
        try ScopeRules.check(request.scopes.union(request.extraScopesToConsent))
        try TenantRules.check(request.authority, for: request.app, clouds: settings.clouds(of: request))
        try ExtraParameters.check(request.extraQueryParameters) { request.sets($0) }
    }

    /// The account that a selector names, among the people who can sign in at the request's authority: the same username at another
    /// provider is another person.
    private func resolve(
        _ selector: AccountReference, _ request: InteractiveRequest, among known: KnownAccounts,
        _ otherClouds: Set<String>
    ) throws(BrokerError) -> (who: KnownAccount, isSignedIn: Bool)? {
        try known.people(selector, at: request.target, otherClouds: otherClouds)
            .uniqueMatch { $0.account(for: request.app, in: known) }
    }

    /// In the broker's own task: the code works once, and its tokens are kept even if all callers have gone.
    private func begin(_ plan: SignInPlan, in flight: SignInFlight) {
        gate.join()
        Task { [gate, signIn] in
            defer { gate.leave() }
            await signIn.run(plan, in: flight)
        }
    }

    /// The cloud in which an account is at home, if the request allows for it.
    private func place(
        of account: KnownAccount, _ request: InteractiveRequest, _ otherClouds: Set<String>
    ) -> Authority {
        let environment = account.stored.record.environment
        return otherClouds.contains(environment) ? request.target.cloud(environment) : request.target
    }

    /// Waits for the flight's outcome. Each request has its own timeout; a caller that goes away leaves the flight.
    ///
    /// - Parameter begin: begins the flight; a caller that goes away after that is noticed before a window opens.
    private func wait(
        in waiter: SignInFlight.Waiter, of flight: SignInFlight, timeout: Int64, begin: () -> Void = {}
    ) async throws(BrokerError) -> AcquiredToken {
        let timer = Task { [clock] in
            try await clock.sleep(for: .seconds(timeout))
            flight.leave(waiter, .nobodyFinished(within: timeout, refusal: flight.interaction.lastRefusal))
        }
        defer { timer.cancel() }
        return try await withTaskCancellationHandler {
            begin()
            return await waiter.outcome.value
        } onCancel: {
            flight.leave(waiter, .appWentAway)
        }.get()
    }
}

extension BrokerError {
    /// - Parameter refusal: why an answer could not be accepted.
    fileprivate static func nobodyFinished(within timeout: Int64, refusal: String?) -> BrokerError {
        guard let refusal else {
            return BrokerError(.timedOut, "Nobody finished the sign-in within \(timeout.inSeconds); start it again.")
        }
        return BrokerError(
            .timedOut,
            "The sign-in was answered within \(timeout.inSeconds), but the answer was not accepted: \(refusal) Start it "
                + "again; if that does not help, contact the provider's operator.", reason: .answerNotAccepted)
    }
}

extension InteractiveRequest {
    /// Whether a parameter of the authorization request is reserved for the broker: with two values, it would be unclear which
    /// counts.
    fileprivate func sets(_ parameter: String) -> Bool {
        switch parameter {
        case "max_age": interaction.maxAge != nil
        case "acr_values": !interaction.acrValues.isEmpty
        default: AuthorizationRequest.reservedParameters.contains(parameter)
        }
    }
}

import BrokerModel
import BrokerValues

/// `token.acquireInteractive`, seen from one request: it finds or starts the flight that fulfils it, and waits.
/// What the flight does is in ``SignIn``.
struct InteractiveAcquisition: Sendable {
    let services: EngineServices

    /// - Parameters:
    ///   - onOpen: called when this request's client has to open the window.
    ///   - onJoin: called when the window is, or will be, open by another request.
    func acquire(
        _ request: InteractiveRequest, onOpen: @escaping @Sendable (InteractionOpening) -> Void,
        onJoin: @escaping @Sendable (InteractionJoining) -> Void
    ) async throws(BrokerError) -> AcquiredToken {
        try check(request)
        _ = try RedirectDestination.parse(request.redirectURI ?? request.app.redirectURI)
        let known = try services.knownAccounts(of: request.app, in: request.partition)
        let otherClouds = services.otherClouds(of: request)
        let account = try request.account.map { selector throws(BrokerError) in
            guard let chosen = try resolve(selector, request, among: known, otherClouds) else {
                throw AccountChoice.notFound
            }
            return chosen
        }
        // Somebody who is only hinted at may have signed out as well.
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

        let waiter = SignInFlight.Waiter(request, now: services.clock.now, onOpen: onOpen, onJoin: onJoin)
        let key = SignInKey(request, at: place, account: account?.who, prompt: prompt)
        let (flight, joining) = try services.interactions.join(key, waiter) {
            let interaction = Interaction<RedirectCheck.AuthorizationCode>(
                for: request.app, of: request.claimant, in: request.partition, services)
            return SignInFlight(key, interaction, first: waiter)
        }
        switch joining {
        case .first:
            let signIn = SignIn(
                services: services, flight: flight, request: request, authority: place,
                // An account's cloud is known; nobody of another one could be its owner.
                otherClouds: account == nil ? otherClouds : [], prompt: prompt, account: account?.who,
                person: person?.who, startedAt: services.clock.now)
            return try await wait(in: waiter, of: flight, timeout: request.timeout) {
                // The broker's own task: the code is good once, and what it brings is kept whoever has gone meanwhile.
                services.gate.join()
                Task { [gate = services.gate] in
                    defer { gate.leave() }
                    await signIn.run()
                }
            }
        case .beforeOpening: break
        case .afterOpening: flight.tell(waiter)
        }
        return try await wait(in: waiter, of: flight, timeout: request.timeout)
    }

    private func check(_ request: InteractiveRequest) throws(BrokerError) {
        try ScopeRules.check(request.scopes.union(request.extraScopesToConsent))
        try TenantRules.check(request.authority, for: request.app, clouds: services.clouds(of: request))
        try ExtraParameters.check(request.extraQueryParameters) { request.sets($0) }
    }

    /// Of the people who can sign in where the request goes: a namesake at another provider is somebody else.
    private func resolve(
        _ selector: AccountReference, _ request: InteractiveRequest, among known: KnownAccounts,
        _ otherClouds: Set<String>
    ) throws(BrokerError) -> (who: KnownAccounts.Entry, isSignedIn: Bool)? {
        try known.people(selector, at: request.target, otherClouds: otherClouds)
            .theOne { $0.account(for: request.app, in: known) }
    }

    /// The cloud in which an account is at home, where the request allows for it.
    private func place(
        of account: KnownAccounts.Entry, _ request: InteractiveRequest, _ otherClouds: Set<String>
    ) -> Authority {
        let environment = account.stored.record.environment
        return otherClouds.contains(environment) ? request.target.cloud(environment) : request.target
    }

    /// Each request has its own patience; a caller that goes away leaves the flight.
    ///
    /// - Parameter begin: begins the flight; a caller that goes away from then on is known to have gone before a window opens.
    private func wait(
        in waiter: SignInFlight.Waiter, of flight: SignInFlight, timeout: Int64, begin: () -> Void = {}
    ) async throws(BrokerError) -> AcquiredToken {
        let clock = services.clock
        let timer = Task {
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
    /// - Parameter refusal: why an answer that came could not be accepted.
    fileprivate static func nobodyFinished(within timeout: Int64, refusal: String?) -> BrokerError {
        guard let refusal else {
            return BrokerError(.timedOut, "Nobody finished the sign-in within \(timeout.inSeconds); start it again.")
        }
        return BrokerError(
            .timedOut,
            "The sign-in was answered within \(timeout.inSeconds), but not acceptably: \(refusal) Start it again; if that "
                + "does not help, ask who runs the provider.", reason: .answerNotAccepted)
    }
}

extension InteractiveRequest {
    /// Whether a parameter of the authorization request is the broker's to set: given twice, nobody could say which counts.
    fileprivate func sets(_ parameter: String) -> Bool {
        switch parameter {
        case "max_age": interaction.maxAge != nil
        case "acr_values": !interaction.acrValues.isEmpty
        default: AuthorizationRequest.reservedParameters.contains(parameter)
        }
    }
}

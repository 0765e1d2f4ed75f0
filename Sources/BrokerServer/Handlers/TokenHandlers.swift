import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues

/// `token.…`: params to the engine's requests, tokens to answers.
struct TokenHandlers: Sendable {
    let broker: TokenBroker
    let policy: AccessPolicy
    let interactions: InteractionStart

    var all: [any AnyMethodHandler] {
        [
            // The hot path: a cached token is answered at once, on the reactor's thread.
            token(AcquireTokenSilent.self, outcome: RequestOutcome.refreshed) {
                request throws(BrokerError) in
                let asked = try silent(request)
                if let token = broker.cached(asked) { return .done(token) }
                return .waits { () throws(BrokerError) in try await broker.acquireSilent(asked) }
            },
            token(AcquireTokenInteractive.self, outcome: RequestOutcome.signedIn) { request throws(BrokerError) in
                let asked = try interactive(request)
                try interactions.begin(asked.presentation, for: request.context.caller)
                return .waits { () throws(BrokerError) in
                    try await broker.acquireInteractive(
                        asked, onOpen: { request.context.notify(InteractionOpen.self, $0) },
                        onJoin: { request.context.notify(InteractionJoined.self, $0) })
                }
            },
            token(AcquireTokenByDeviceCode.self, outcome: RequestOutcome.signedIn) { request throws(BrokerError) in
                let asked = try deviceCode(request)
                try interactions.begin(.client, for: request.context.caller)
                return .waits { () throws(BrokerError) in
                    try await broker.acquireByDeviceCode(asked) {
                        request.context.notify(InteractionDeviceCode.self, $0)
                    }
                }
            },
            .waiting(ProveToken.self) { request throws(BrokerError) in try broker.proof(try proof(request)) },
        ]
    }

    /// A method that returns a token.
    private func token<M: BrokerMethod>(
        _: M.Type, outcome: @escaping @Sendable (AcquiredToken) -> RequestOutcome,
        _ work: @escaping @Sendable (Request<M>) throws(BrokerError) -> Work<AcquiredToken>
    ) -> MethodHandler<M> where M.Result == Token, M.Params: TokenParams {
        MethodHandler(M.self) { [policy] request throws(BrokerError) in
            try work(request).map { (token) throws(BrokerError) in
                try request.permits(token, by: policy)
                return CompletedWork(answer: .token(token), outcome: outcome(token))
            }
        }
    }

    // MARK: Params to requests

    func silent<M: AppMethod>(
        _ request: Request<M>
    ) throws(BrokerError) -> SilentRequest where M.Params == AcquireTokenSilent.Params {
        let params = request.params
        let authority = try otherAuthority(params)
        let isInstanceAware = try CloudRules.isInstanceAware(asked: params.query.instanceAware, for: request.app)
        var query = params.query
        if let account = request.grant?.accountID { query.account = .id(account) }
        return SilentRequest(
            partition: request.partition, app: request.app, authority: authority, query: query,
            isInstanceAware: isInstanceAware, forceRefresh: params.forceRefresh,
            rejectedToken: params.rejectedToken.map { Secret($0) }, ceiling: request.ceiling,
            correlationID: request.correlationID)
    }

    private func interactive(_ request: Request<AcquireTokenInteractive>) throws(BrokerError) -> InteractiveRequest {
        let params = request.params
        var asked = InteractiveRequest(
            partition: request.partition, app: request.app, query: params.query, interaction: params.interaction,
            correlationID: request.correlationID)
        if let account = request.grant?.accountID { asked.query.account = .id(account) }
        asked.authority = try otherAuthority(params)
        asked.isInstanceAware = try CloudRules.isInstanceAware(asked: params.query.instanceAware, for: request.app)
        asked.claimant = request.context.caller.claimant
        asked.isOutside = request.context.caller.isOutside
        asked.elsewhere = request.context.caller.elsewhere
        asked.presentation = interactions.presentation(asked.presentation, for: request.context.caller)
        return asked
    }

    private func deviceCode(_ request: Request<AcquireTokenByDeviceCode>) throws(BrokerError) -> DeviceCodeRequest {
        var asked = DeviceCodeRequest(
            partition: request.partition, app: request.app, query: request.params.query,
            correlationID: request.correlationID)
        asked.authority = try otherAuthority(request.params)
        asked.timeout = request.params.timeout
        if let account = request.grant?.accountID { asked.query.account = .id(account) }
        asked.claimant = request.context.caller.claimant
        asked.isOutside = request.context.caller.isOutside
        return asked
    }

    private func proof(_ request: Request<ProveToken>) throws(BrokerError) -> ProofRequest {
        let params = request.params
        var asked = ProofRequest(
            partition: request.partition, app: request.app,
            target: ProofTarget(method: params.httpMethod, url: params.url))
        asked.account = request.grant?.accountID.map { .id($0) } ?? params.account
        asked.authority = try otherAuthority(params)
        asked.nonce = params.nonce
        asked.accessToken = params.accessToken.map { Secret($0) }
        return asked
    }

    private func otherAuthority(_ params: some AppSelecting) throws(BrokerError) -> Authority? {
        guard let text = params.selection.otherAuthority else { return nil }
        return try policy.authority(text)
    }
}

extension RequestOutcome {
    static func refreshed(_ token: AcquiredToken) -> RequestOutcome {
        if token.fromCache {
            return RequestOutcome(words: "a token from the cache", level: .debug, audited: .token(token))
        }
        return of(token, "the token of \(person: token.account.username) was refreshed at \(token.account.environment)")
    }

    fileprivate static func signedIn(_ token: AcquiredToken) -> RequestOutcome {
        of(token, "\(person: token.account.username) signed in at \(token.account.environment)")
    }

    private static func of(_ token: AcquiredToken, _ words: JournalText) -> RequestOutcome {
        RequestOutcome(
            words: words + (token.persisted ? "" : ", not written to disk yet"), account: token.account.username,
            audited: .token(token))
    }
}

extension Request where M.Params: TokenParams {
    /// The most that a token may be good for; `nil` for no limit.
    fileprivate var ceiling: Scopes? {
        guard let granted = grant?.scopes?.union(.harmless) else { return app.scopeCeiling }
        return app.scopeCeiling.map(granted.intersection) ?? granted
    }

    /// Only tokens within the app's limit and the caller's grant are returned, whatever the cache or the provider had: this is
    /// the one place where tokens leave.
    func permits(_ token: AcquiredToken, by policy: AccessPolicy) throws(BrokerError) {
        let record = token.token.record
        let scopes = record.isGoodForMore == true ? nil : record.scopes + (record.resources ?? [])
        try app.requireWithinCeiling(token: scopes)
        guard let grant else { return }
        if let account = grant.accountID, token.account.id != account {
            throw .denied(context.caller, "\(context.caller.id) may use another account of this app only.")
        }
        guard !grant.covers(accountID: token.account.id, scopes: scopes) else { return }
        try policy.ask(forToken: scopes, of: grant.accountID, app, by: context.caller)
    }
}

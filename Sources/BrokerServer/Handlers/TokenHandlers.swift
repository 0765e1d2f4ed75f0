import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues

/// `token.…`: params to the engine's requests, tokens to answers.
struct TokenHandlers: Sendable {
    let services: ServerServices

    var all: [AnyHandler] {
        let broker = services.broker
        return [
            // The hot path: a token that is in the cache is answered at once, on the reactor's thread.
            token(AcquireTokenSilent.self, outcome: RequestOutcome.refreshed, again: again) {
                request throws(BrokerError) in
                let asked = try silent(request)
                if let token = broker.memory.cached(asked) { return .done(token) }
                return .waits { () throws(BrokerError) in try await broker.acquireSilent(asked) }
            },
            token(AcquireTokenInteractive.self, outcome: RequestOutcome.signedIn) { request throws(BrokerError) in
                let asked = try interactive(request)
                return .waits { () throws(BrokerError) in
                    try await broker.acquireInteractive(
                        asked, onOpen: { request.notify(InteractionOpen.self, $0) },
                        onJoin: { request.notify(InteractionJoined.self, $0) })
                }
            },
            token(AcquireTokenByDeviceCode.self, outcome: RequestOutcome.signedIn) { request throws(BrokerError) in
                let asked = try deviceCode(request)
                return .waits { () throws(BrokerError) in
                    try await broker.acquireByDeviceCode(asked) {
                        request.notify(InteractionDeviceCode.self, $0)
                    }
                }
            },
            .waiting(
                ProveToken.self, outcome: { _, _ in RequestOutcome(words: "a proof for a token", level: .debug) }
            ) { request throws(BrokerError) in
                try broker.proof(try proof(request))
            },
        ]
    }

    /// A method that answers a token: its secrets go from guarded memory into the answer and nowhere else.
    private func token<M: BrokerMethod>(
        _: M.Type, outcome: @escaping @Sendable (AcquiredToken) -> RequestOutcome,
        again: (@Sendable (Request<M>, AcquiredToken) -> RepeatableAnswer?)? = nil,
        _ work: @escaping @Sendable (Request<M>) throws(BrokerError) -> Work<AcquiredToken>
    ) -> AnyHandler where M.Result == Token, M.Params: TokenParams {
        let policy = services.policy
        let checked = { @Sendable (request: Request<M>) throws(BrokerError) -> Work<AcquiredToken> in
            try work(request).checked { (token) throws(BrokerError) in try request.permits(token, by: policy) }
        }
        let write = {
            @Sendable (token: AcquiredToken, request: Request<M>, writer: inout JSONWriter)
                throws(BrokerError) in
            writer.beginToken(token, correlationID: request.correlationID)
            try endToken(token, &writer)
        }
        return AnyHandler(M.self, work: checked, outcome: { outcome($1) }, write: write, again: again)
    }

    func endToken(_ token: AcquiredToken, _ writer: inout JSONWriter) throws(BrokerError) {
        do throws(VaultError) {
            try services.vault.withSecret(of: token.token.sealed) { writer.accessToken(token.tokenType, $0) }
            if let idToken = token.idToken { try services.vault.withSecret(of: idToken) { writer.idToken($0) } }
        } catch {
            throw BrokerError(error)
        }
        writer.endObject()
    }

    /// Of a token from memory that the app itself is allowed. What a grant allows is looked up for each token, and a request with
    /// a name of its own is another one each time.
    private func again(_ request: Request<AcquireTokenSilent>, _ token: AcquiredToken) -> RepeatableAnswer? {
        guard token.fromCache, token.persisted, request.grant == nil, request.params.correlationId == nil,
            token.lifetimeOf == .accessToken,
            let lasting = services.broker.memory.lasting(token, minimumLifetime: request.params.minimumLifetime)
        else { return nil }
        let written = WrittenToken(token)
        return RepeatableAnswer(
            isGood: { lasting.answers(at: $0) },
            write: { (correlationID, writer) throws(BrokerError) in
                writer.beginToken(written, correlationID: correlationID)
                try endToken(token, &writer)
            })
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
        asked.elsewhere = request.context.caller.elsewhere
        asked.presentation = try services.presentation(asked.presentation, for: request.context.caller)
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
        return asked
    }

    private func proof(_ request: Request<ProveToken>) throws(BrokerError) -> ProofRequest {
        let params = request.params
        var asked = ProofRequest(
            partition: request.partition, app: request.app,
            target: ProofTarget(method: params.httpMethod, url: params.url))
        asked.account = params.account
        asked.authority = try otherAuthority(params)
        asked.nonce = params.nonce
        asked.accessToken = params.accessToken.map { Secret($0) }
        return asked
    }

    private func otherAuthority(_ params: some AppSelecting) throws(BrokerError) -> Authority? {
        guard let text = params.selection.otherAuthority else { return nil }
        return try services.policy.authority(text)
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

extension Work {
    /// The same, unless the check throws: whoever answers later answers no more than whoever answers at once.
    fileprivate func checked(
        _ check: @escaping @Sendable (Output) throws(BrokerError) -> Void
    ) throws(BrokerError) -> Work {
        switch self {
        case .done(let output):
            try check(output)
            return self
        case .waits(let output):
            return .waits { () throws(BrokerError) in
                let output = try await output()
                try check(output)
                return output
            }
        }
    }
}

extension Request where M.Params: TokenParams {
    /// What a token may be good for at most; nil for anything.
    fileprivate var ceiling: Scopes? {
        guard let granted = grant?.scopes?.union(.harmless) else { return app.scopeCeiling }
        return app.scopeCeiling.map(granted.intersection) ?? granted
    }

    /// Only what is allowed to the app and was granted to the caller is handed out, whatever the cache or the provider had: this
    /// is the one place where tokens leave.
    func permits(_ token: AcquiredToken, by policy: AccessPolicy) throws(BrokerError) {
        let record = token.token.record
        let scopes = record.isGoodForMore == true ? nil : record.scopes + (record.resources ?? [])
        try app.requireWithinCeiling(token: scopes)
        guard let grant else { return }
        if let account = grant.accountID, token.account.id != account {
            throw BrokerError(
                .accessDenied, "\(context.caller.id) may use another account of this app only.",
                reason: .callerNotListed
            ) { $0.caller = context.caller.id }
        }
        guard !grant.covers(accountID: token.account.id, scopes: scopes) else { return }
        try policy.ask(forToken: scopes, of: grant.accountID, app, by: context.caller)
    }
}

extension AcquiredToken: TokenFacts {
    package var writtenFacts: [UInt8] {
        lifetimeOf == .accessToken ? token.written { lastingFacts } : lastingFacts
    }
    package var writtenAccount: [UInt8] { person.written { person.account.written } }
    package var tokenType: TokenType { token.record.tokenType }
    package var expiresOn: NumericDate {
        lifetimeOf == .idToken ? idTokenEnd ?? token.record.expiresOn : token.record.expiresOn
    }
    package var extendedExpiresOn: NumericDate? {
        lifetimeOf == .accessToken ? token.record.extendedExpiresOn : nil
    }
    package var scopes: [String] { token.record.scopes }
    package var authority: String { token.record.authority }
}

import Hummingbird

/// The authorization endpoint: checks the request; ``AuthorizationStep`` then decides the next step.
extension Provider {
    func authorize(_ request: Request, _ context: ProviderContext) throws -> Response {
        let asked: AuthorizationRequest
        do {
            asked = try authorizationRequest(context)
        } catch {
            return answer(error)
        }
        return begin(asked, request)
    }

    /// The request itself, or the pushed one (RFC 9126, section 4).
    private func authorizationRequest(
        _ context: ProviderContext
    ) throws(AuthorizationRefusal) -> AuthorizationRequest {
        let form = context.form
        if let uri = form["request_uri"], uri.hasPrefix(PushedRequests.prefix) {
            let now = now()
            guard let pushed = state.withLock({ $0.pushed.take(uri, clientID: form["client_id"], now: now) }) else {
                throw .page("This pushed request is unknown, used or expired, or another client's.")
            }
            return try check(pushed.form, pushed.realm)
        }
        let realm: Realm
        do { realm = try self.realm(of: context) } catch { throw .page(error.description) }
        let asked = try check(form, realm)
        let isRequired = state.withLock { $0.policy.requiresPushedAuthorization }
        if isRequired || client(asked.clientID)?.requiresPushedAuthorization == true,
            case .redirect(let target) = asked.channel
        {
            throw .redirect(
                to: target.uri, state: target.state, realm,
                OAuthFailure(.invalidRequest, "the authorization request has to be pushed"))
        }
        return asked
    }

    func check(_ form: FormValues, _ realm: Realm) throws(AuthorizationRefusal) -> AuthorizationRequest {
        try AuthorizationRequest(form, realm: realm, client: client, takesScope: takes)
    }

    /// Begins a transaction in this browser and executes its first step.
    func begin(_ asked: AuthorizationRequest, _ request: Request) -> Response {
        let now = now()
        let (transaction, session) = state.withLock { state in
            let session =
                state.session(cookie: cookie(of: request)) ?? BrowserSession(cookie: randomText(), id: randomText())
            let transaction = Transaction(
                id: randomText(), sessionID: session.id, request: asked, expiresAt: now + Transaction.lifetime)
            state.save(session)
            state.save(transaction, now: now)
            return (transaction, session)
        }
        return advance(transaction, session)
    }

    /// Executes the transaction's next step.
    func advance(_ transaction: Transaction, _ session: BrowserSession) -> Response {
        let request = transaction.request
        let hint = verifiedHint(request.idTokenHint)
        if request.idTokenHint != nil, hint == nil {
            return finish(transaction, with: OAuthFailure(.invalidRequest, "id_token_hint is not from this provider"))
        }
        let hinted = hint?.username ?? request.loginHint.map { user($0)?.username ?? $0 }
        let now = now()
        let step = state.withLock { state in
            AuthorizationStep.next(
                transaction, accounts: session.accounts, hinted: hinted,
                needsConsent: {
                    options.asksConsent
                        && !state.hasConsent($0, clientID: request.clientID, scopes: request.scopes)
                }, now: now)
        }
        switch step {
        case .refuse(let failure):
            return finish(transaction, with: failure)
        case .issue(let account) where hint.map { $0.username != account.username } ?? false:
            return finish(
                transaction, with: OAuthFailure(.loginRequired, "another person signed in than was asked for"))
        case .issue(let account):
            return conclude(transaction, account: account, session)
        case .consent(let username):
            var transaction = transaction
            transaction.chosen = username
            state.withLock { $0.save(transaction, now: now) }
            return show(step, of: transaction, session)
        case .signIn, .choose, .create:
            return show(step, of: transaction, session)
        }
    }

    private func show(_ step: AuthorizationStep, of transaction: Transaction, _ session: BrowserSession) -> Response {
        let form = form(of: transaction)
        let shown: Page =
            switch step {
            case .choose(let usernames): .choose(form, people: usernames.compactMap { user($0) })
            case .consent(let username): .consent(form, username: username, request: transaction.request)
            case .create: .create(form)
            case .signIn(let username): .signIn(form, username: username, domain: transaction.request.domainHint)
            case .issue, .refuse: .signIn(form, username: nil)
            }
        return page(shown, cookie: setCookie(session))
    }

    /// The person is signed in and has consented.
    private func conclude(
        _ transaction: Transaction, account: SignedInAccount, _ session: BrowserSession
    ) -> Response {
        let request = transaction.request
        guard let user = user(account.username), let client = client(request.clientID) else {
            return finish(transaction, with: OAuthFailure(.loginRequired, "the person is gone"))
        }
        if let elsewhere = flavor.elsewhere(user, request) {
            state.withLock { $0.finish(transaction) }
            return seeOther(elsewhere, cookie: setCookie(session))
        }
        do throws(OAuthFailure) {
            _ = try flavor.identity(of: user, in: request.realm, for: client)
        } catch {
            guard !request.prompts.contains(.none) else { return finish(transaction, with: error) }
            return page(
                .signIn(form(of: transaction), username: nil, alert: error.description), cookie: setCookie(session))
        }
        let scopes = (transaction.consentedScopes ?? request.scopes).filter { !options.declinedScopes.contains($0) }
        let grant = Grant(request, account: account, sessionID: transaction.sessionID, scopes: scopes)
        switch request.channel {
        case .device(let userCode):
            state.withLock { state in
                state.finish(transaction)
                state.devices.settle(userCode, .approved(grant))
            }
            return page(.deviceDone(app: client.name), cookie: setCookie(session))
        case .redirect(let target):
            let code = randomText()
            let now = now()
            state.withLock { state in
                state.finish(transaction)
                state.tokens.addCode(code, for: grant, target: target, expiresAt: now + state.policy.codeLifetime)
            }
            let answer =
                [("code", code), ("state", target.state)]
                + flavor.redirectParameters(of: request, sessionID: transaction.sessionID)
            guard target.takesForm else {
                return seeOther(appendQuery(answer, to: target.uri), cookie: setCookie(session))
            }
            let fields = answer.compactMap { name, value in value.map { (name, $0) } }
            return page(.handBack(to: target.uri, fields: fields), cookie: setCookie(session))
        }
    }

    /// Sends the client an error response.
    func finish(_ transaction: Transaction, with failure: OAuthFailure) -> Response {
        state.withLock { $0.finish(transaction) }
        let request = transaction.request
        switch request.channel {
        case .redirect(let target):
            return answer(.redirect(to: target.uri, state: target.state, request.realm, failure))
        case .device(let userCode):
            state.withLock { $0.devices.settle(userCode, .denied) }
            return page(.deviceDenied)
        }
    }

    func answer(_ refusal: AuthorizationRefusal) -> Response {
        switch refusal {
        case .page(let message):
            return page(.failure(message), status: .badRequest)
        case .redirect(let uri, let state, let realm, let failure):
            let members = flavor.members(of: failure, correlationID: nil, time: now())
            // RFC 9207 requires `iss` in errors, too, if the provider sends it at all.
            let answer = ["error", "error_description", "error_subcode", "claims"].map { ($0, members[$0]?.string) }
            return seeOther(appendQuery(answer + [("state", state), ("iss", issuerOfErrors(realm))], to: uri))
        }
    }

    private func issuerOfErrors(_ realm: Realm) -> String? { options.flavor == .openID ? realm.base : nil }
}

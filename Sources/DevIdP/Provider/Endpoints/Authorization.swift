import Hummingbird

/// The authorization endpoint: checks the request, then lets ``AuthorizationStep`` say what comes next.
extension Provider {
    func authorize(_ request: Request, _ context: ProviderContext) async throws -> Response {
        let asked: AuthorizationRequest
        do {
            asked = try AuthorizationRequest(context.form, clients: clients, scopes: options.scopes)
        } catch {
            return answer(error)
        }
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
        return await advance(transaction, session)
    }

    /// Does the transaction's next step.
    func advance(_ transaction: Transaction, _ session: BrowserSession) async -> Response {
        let request = transaction.request
        let hint = await verifiedHint(request.idTokenHint)
        if request.idTokenHint != nil, hint == nil {
            return finish(transaction, with: OAuthFailure(.invalidRequest, "id_token_hint is not from this provider"))
        }
        let hintedUser = hint.flatMap { hint in options.users.first { $0.subject == hint.sub } }
        let hinted = hintedUser?.username ?? request.loginHint.map { user($0)?.username ?? $0 }
        let now = now()
        let step = state.withLock { state in
            AuthorizationStep.next(
                transaction, accounts: session.accounts, hinted: hinted,
                needsConsent: {
                    options.asksConsent
                        && !state.hasConsent($0, clientID: request.clientID, scopes: request.scopes)
                }, now: now)
        }
        let clientName = clients.client(request.clientID)?.name ?? request.clientID
        let cookie = setCookie(session)
        switch step {
        case .signIn(let username):
            let form = Page.signIn(
                app: clientName, action: issuer, transaction: transaction.id, username: username, failed: false)
            return page(form, cookie: cookie)
        case .choose(let usernames):
            let people = usernames.compactMap { user($0) }
            return page(
                .choose(app: clientName, action: issuer, transaction: transaction.id, people: people), cookie: cookie)
        case .consent(let username):
            var transaction = transaction
            transaction.chosen = username
            state.withLock { $0.save(transaction, now: now) }
            let form = Page.consent(
                app: clientName, action: issuer, transaction: transaction.id, username: username,
                scopes: request.scopes)
            return page(form, cookie: cookie)
        case .refuse(let failure):
            return finish(transaction, with: failure)
        case .issue(let account) where hintedUser.map { $0.username != account.username } ?? false:
            return finish(
                transaction, with: OAuthFailure(.loginRequired, "another person signed in than was asked for"))
        case .issue(let account):
            return issueCode(transaction, account: account, cookie: cookie)
        }
    }

    private func issueCode(_ transaction: Transaction, account: SignedInAccount, cookie: String) -> Response {
        let request = transaction.request
        let scopes = (transaction.consentedScopes ?? request.scopes).filter { !options.declinedScopes.contains($0) }
        let grant = Grant(
            id: randomText(), clientID: request.clientID, username: account.username,
            sessionID: transaction.sessionID, authenticatedAt: account.authenticatedAt, nonce: request.nonce,
            scopes: scopes)
        let code = randomText()
        let now = now()
        state.withLock { state in
            state.finish(transaction)
            let expiry = now + state.policy.codeLifetime
            state.tokens.addCode(code, for: grant, request: request, expiresAt: expiry)
        }
        let answer = [("code", code), ("state", request.state), ("iss", issuer)]
        return seeOther(appendQuery(answer, to: request.redirectURI), cookie: cookie)
    }

    /// Sends the person back to the client with an error.
    func finish(_ transaction: Transaction, with failure: OAuthFailure) -> Response {
        state.withLock { $0.finish(transaction) }
        let request = transaction.request
        return answer(.redirect(to: request.redirectURI, state: request.state, failure))
    }

    private func answer(_ refusal: AuthorizationRefusal) -> Response {
        switch refusal {
        case .page(let message):
            return page(.failure(message), status: .badRequest)
        case .redirect(let uri, let state, let failure):
            let answer = [
                ("error", failure.code.rawValue), ("error_description", failure.description), ("state", state),
                ("iss", issuer),
            ]
            return seeOther(appendQuery(answer, to: uri))
        }
    }
}

import Hummingbird

/// The targets of the forms on the provider's pages.
extension Provider {
    func signIn(_ request: Request, _ context: ProviderContext) throws -> Response {
        guard let (transaction, session) = unfinished(request, context) else { return expired() }
        let username = context.form["username"] ?? ""
        guard let user = user(username), equalInConstantTime(context.form["password"] ?? "", user.password) else {
            return page(
                .signIn(
                    form(of: transaction), username: username, alert: "The user name or the password is wrong."))
        }
        return advance(transaction, session, signedIn: user)
    }

    func createAccount(_ request: Request, _ context: ProviderContext) throws -> Response {
        guard let (transaction, session) = unfinished(request, context) else { return expired() }
        guard let username = context.form["username"], let password = context.form["password"] else {
            return page(.create(form(of: transaction), alert: "A user name and a password are needed."))
        }
        let user = ProviderUser(username: username, password: password, name: context.form["name"])
        guard people.withLock({ $0.add(user) }) else {
            return page(.create(form(of: transaction), alert: "This user name is taken."))
        }
        return advance(transaction, session, signedIn: user)
    }

    private func advance(
        _ transaction: Transaction, _ session: BrowserSession, signedIn user: ProviderUser
    ) -> Response {
        var (transaction, session) = (transaction, session)
        session.cookie = randomText()
        session.signIn(user.username, at: now())
        transaction.chosen = user.username
        transaction.typedPassword = true
        save(transaction, session)
        return advance(transaction, session)
    }

    func form(of transaction: Transaction) -> InteractionForm {
        InteractionForm(app: clientName(transaction.request.clientID), action: base, transaction: transaction.id)
    }

    func choose(_ request: Request, _ context: ProviderContext) throws -> Response {
        guard case (var transaction, let session)? = unfinished(request, context) else { return expired() }
        guard let username = context.form["account"] else {
            return page(.signIn(form(of: transaction), username: nil))
        }
        transaction.chosen = username
        transaction.typedPassword = false
        save(transaction, session)
        return advance(transaction, session)
    }

    func consent(_ request: Request, _ context: ProviderContext) throws -> Response {
        guard case (var transaction, let session)? = unfinished(request, context) else { return expired() }
        guard context.form["decision"] == "allow" else {
            return finish(transaction, with: OAuthFailure(.accessDenied, "the person said no", .cancelled))
        }
        let allowed = Set(context.form.all("scope"))
        let scopes = transaction.request.scopes.filter { $0 == "openid" || allowed.contains($0) }
        transaction.consentedScopes = scopes
        save(transaction, session)
        if let username = transaction.chosen {
            state.withLock { $0.addConsent(username, clientID: transaction.request.clientID, scopes: scopes) }
        }
        return advance(transaction, session)
    }

    func cancel(_ request: Request, _ context: ProviderContext) -> Response {
        guard let (transaction, _) = unfinished(request, context) else { return expired() }
        return finish(transaction, with: OAuthFailure(.accessDenied, "the person went away", .cancelled))
    }

    private func unfinished(_ request: Request, _ context: ProviderContext) -> (Transaction, BrowserSession)? {
        let now = now()
        return state.withLock { state in
            guard let session = state.session(cookie: cookie(of: request)),
                let transaction = state.transaction(context.form["transaction"], session: session, now: now)
            else { return nil }
            return (transaction, session)
        }
    }

    private func save(_ transaction: Transaction, _ session: BrowserSession) {
        let now = now()
        state.withLock { state in
            state.save(session)
            state.save(transaction, now: now)
        }
    }

    private func expired() -> Response {
        page(
            .failure("This sign-in is over, or it was begun in another browser. Go back to the app and start again."),
            status: .badRequest)
    }

    /// The session cookie of the request (RFC 6265, section 4.2.1).
    func cookie(of request: Request) -> String? {
        let name = cookieName + "="
        return request.headers[.cookie]?.split(separator: ";").lazy
            .map { $0.drop { $0 == " " } }
            .first { $0.hasPrefix(name) }
            .map { String($0.dropFirst(name.count)) }
    }

    func setCookie(_ session: BrowserSession) -> String {
        "\(cookieName)=\(session.cookie); Path=\(options.issuerPath.isEmpty ? "/" : options.issuerPath); HttpOnly; SameSite=Lax"
    }
}

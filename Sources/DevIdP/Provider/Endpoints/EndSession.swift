import FoundationEssentials
import Hummingbird

/// OpenID Connect RP-Initiated Logout 1.0.
extension Provider {
    func endSession(_ request: Request, _ context: ProviderContext) -> Response {
        let form = context.form
        let hint = verifiedHint(form["id_token_hint"])
        if form["id_token_hint"] != nil, hint == nil {
            return page(.failure("The id_token_hint is not from this provider."), status: .badRequest)
        }
        if let hint, let clientID = form["client_id"], clientID != hint.clientID {
            return page(.failure("The id_token_hint was given to another client."), status: .badRequest)
        }
        let client = (form["client_id"] ?? hint?.clientID).flatMap { self.client($0) }
        let returnURI = form["post_logout_redirect_uri"]
        if let returnURI {
            guard let client, RedirectURIRules.accepts(returnURI, registered: client.postLogoutRedirectURIs) else {
                return page(.failure("The post_logout_redirect_uri is not registered."), status: .badRequest)
            }
        }

        if let session = state.withLock({ $0.session(cookie: cookie(of: request)) }), !session.accounts.isEmpty {
            // A page of another site can send the browser here: without a hint of this session, ask (section 2).
            if let hint, hint.sessionID == session.id {
                signOut(session, only: hint.username)
            } else if request.method == .post, form["confirmation"] == confirmation(session) {
                signOut(session, only: nil)
            } else {
                let kept = ["client_id", "id_token_hint", "post_logout_redirect_uri", "state"].compactMap { name in
                    form[name].map { (name, $0) }
                }
                let fields = kept + [("confirmation", confirmation(session))]
                return page(.confirmSignOut(action: request.uri.path, fields: fields))
            }
        }
        if let returnURI { return seeOther(appendQuery([("state", form["state"])], to: returnURI)) }
        return page(.signedOut)
    }

    private func signOut(_ session: BrowserSession, only username: String?) {
        state.withLock { state in
            var left = session
            left.accounts.removeAll { username == nil || $0.username == username }
            state.save(left)
            guard state.policy.logoutEndsRefreshTokens else { return }
            for account in session.accounts where username == nil || account.username == username {
                state.tokens.revokeAll(sessionID: session.id, username: account.username)
            }
        }
    }

    /// Only this provider's own page, in this browser, can contain it.
    private func confirmation(_ session: BrowserSession) -> String {
        Digest.sha256.of("sign out \(session.cookie)".utf8).base64URLText
    }
}

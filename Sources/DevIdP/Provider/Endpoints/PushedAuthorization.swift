import Hummingbird

extension Provider {
    /// RFC 9126, section 2.
    func push(_ request: Request, _ context: ProviderContext) throws -> Response {
        let client = try authenticateClient(request, context.form)
        if context.form["request_uri"] != nil {
            throw OAuthFailure(.invalidRequest, "a pushed request cannot have a request_uri")
        }
        let realm = try realm(of: context)
        var form = context.form.without("client_secret")
        form.set("client_id", to: client.id)
        if let key = try provenKey(request) {
            guard form["dpop_jkt"] ?? key == key else {
                throw OAuthFailure(.invalidProof, "dpop_jkt is not the thumbprint of the proof's key")
            }
            form.set("dpop_jkt", to: key)
        }
        do throws(AuthorizationRefusal) { _ = try check(form, realm) } catch {
            switch error {
            case .page(let message): throw OAuthFailure(.invalidRequest, message)
            case .redirect(_, _, _, let failure): throw failure
            }
        }
        return try accept(form, realm, client: client.id)
    }

    private func accept(_ form: FormValues, _ realm: Realm, client: String) throws -> Response {
        let now = now()
        let (uri, lifetime) = state.withLock { state in
            let lifetime = state.policy.pushedRequestLifetime
            let pushed = PushedRequests.Pushed(form: form, realm: realm, clientID: client, expiresAt: now + lifetime)
            return (state.pushed.add(pushed, name: randomText(), now: now), lifetime)
        }
        let members: [String: JSON] = ["request_uri": .string(uri), "expires_in": .integer(lifetime)]
        return try json(members, status: .created, headers: proofHeaders())
    }
}

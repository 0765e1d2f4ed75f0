import Hummingbird

extension Provider {
    /// RFC 7009. The response to an unknown token is the same as after a revocation.
    func revoke(_ request: Request, _ context: ProviderContext) throws -> Response {
        let client = try authenticateClient(request, context.form)
        guard let token = context.form["token"] else { throw OAuthFailure(.invalidRequest, "token is missing") }
        guard state.withLock({ $0.tokens.revoke(token: token, clientID: client.id) }) else {
            throw OAuthFailure(.unauthorizedClient, "the token was given to another client")
        }
        return Response(status: .ok, headers: [.cacheControl: "no-store"])
    }

    /// RFC 7662, for the client that the token was issued to.
    func introspect(_ request: Request, _ context: ProviderContext) throws -> Response {
        let client = try authenticateClient(request, context.form)
        guard let token = context.form["token"] else { throw OAuthFailure(.invalidRequest, "token is missing") }
        let now = now()
        guard let (record, grant) = state.withLock({ $0.tokens.accessToken(token, now: now) }),
            record.clientID == client.id
        else { return try json(["active": JSON.bool(false)]) }
        var members: [String: JSON] = [
            "active": true, "client_id": .string(client.id), "username": .string(grant.username),
            "sub": .string(record.identity.subject), "iss": .string(record.identity.issuer),
            "aud": .strings(record.audience), "scope": .string(record.scopes.joined(separator: " ")),
            "exp": .integer(record.expiresAt), "token_type": record.proofKey == nil ? "Bearer" : "DPoP",
        ]
        members["acr"] = grant.acr.map { .string($0) }
        members["cnf"] = record.proofKey.map { ["jkt": .string($0)] }
        return try json(members)
    }
}

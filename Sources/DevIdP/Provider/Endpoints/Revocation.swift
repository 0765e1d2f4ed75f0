import Hummingbird

extension Provider {
    /// RFC 7009. A token that nobody knows is answered like one that was revoked just now.
    func revoke(_ request: Request, _ context: ProviderContext) throws -> Response {
        do throws(OAuthFailure) {
            let client = try authenticateClient(request, context.form)
            guard let token = context.form["token"] else { throw OAuthFailure(.invalidRequest, "token is missing") }
            guard state.withLock({ $0.tokens.revoke(token: token, clientID: client.id) }) else {
                throw OAuthFailure(.unauthorizedClient, "the token was given to another client")
            }
            return Response(status: .ok, headers: [.cacheControl: "no-store"])
        } catch {
            return try oauthError(error, challenge: Self.basicChallenge)
        }
    }
}

import Hummingbird

/// OpenID Connect Core, section 5.3.2.
private struct UserInfo: Encodable {
    let sub: String
    var preferred_username: String?
    var name: String?
    var email: String?
    var email_verified: Bool?
}

extension Provider {
    func userInfo(_ request: Request) async throws -> Response {
        guard let header = request.headers[.authorization] else {
            return Response(status: .unauthorized, headers: [.wwwAuthenticate: "Bearer realm=\"dev-idp\""])
        }
        let parts = header.split(separator: " ")
        guard parts.count == 2, parts[0].lowercased() == "bearer" else {
            return try bearerError(.badRequest, "invalid_request", "send the token as Authorization: Bearer")
        }
        let now = now()
        guard let (record, grant) = state.withLock({ $0.tokens.accessToken(String(parts[1]), now: now) }),
            let user = user(grant.username)
        else { return try bearerError(.unauthorized, "invalid_token", "the token is unknown, expired or revoked") }
        guard record.scopes.contains("openid") else {
            return try bearerError(.forbidden, "insufficient_scope", "the token lacks the scope openid")
        }
        var info = UserInfo(sub: user.subject)
        if record.scopes.contains("profile") {
            info.preferred_username = user.username
            info.name = user.name
        }
        if record.scopes.contains("email") {
            info.email = user.email
            info.email_verified = true
        }
        return try json(info)
    }

    /// RFC 6750, section 3.
    private func bearerError(_ status: HTTPResponse.Status, _ code: String, _ description: String) throws -> Response {
        try json(
            ErrorBody(error: code, error_description: description), status: status,
            headers: [
                .wwwAuthenticate: "Bearer realm=\"dev-idp\", error=\"\(code)\", error_description=\"\(description)\""
            ])
    }
}

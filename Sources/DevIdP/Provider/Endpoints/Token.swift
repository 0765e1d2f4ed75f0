import Hummingbird

/// RFC 6749, section 5.1.
private struct TokenAnswer: Encodable {
    let access_token: String
    let token_type = "Bearer"
    let expires_in: Int
    let refresh_token: String?
    let id_token: String?
    let scope: String
}

extension Provider {
    func token(_ request: Request, _ context: ProviderContext) async throws -> Response {
        do {
            let form = context.form
            if let name = form.repeated.first { throw OAuthFailure(.invalidRequest, "\(name) came more than once") }
            let client = try authenticateClient(request, form)
            let redemption = try redeem(form, client: client)
            return try json(try await answer(redemption, client: client))
        } catch let failure as OAuthFailure {
            return try oauthError(failure, challenge: Self.basicChallenge)
        }
    }

    private func redeem(_ form: FormValues, client: ProviderClient) throws(OAuthFailure) -> Redemption {
        let now = now()
        switch form["grant_type"] {
        case "authorization_code":
            guard let code = form["code"] else { throw OAuthFailure(.invalidRequest, "code is missing") }
            return try exchange { state throws(OAuthFailure) in
                try state.tokens.redeem(
                    code: code, clientID: client.id, redirectURI: form["redirect_uri"], verifier: form["code_verifier"],
                    policy: state.policy, now: now, freshName: randomText())
            }
        case "refresh_token":
            guard let token = form["refresh_token"] else {
                throw OAuthFailure(.invalidRequest, "refresh_token is missing")
            }
            return try exchange { state throws(OAuthFailure) in
                try state.tokens.redeem(
                    refreshToken: token, clientID: client.id, scopes: form["scope"].map(scopeList),
                    policy: state.policy, now: now, freshName: randomText())
            }
        case nil: throw OAuthFailure(.invalidRequest, "grant_type is missing")
        default: throw OAuthFailure(.unsupportedGrantType, "only authorization_code and refresh_token")
        }
    }

    /// A refused exchange may still change the state: it revokes a family. So the error comes out as a value.
    private func exchange(
        _ attempt: (inout ProviderState) throws(OAuthFailure) -> Redemption
    ) throws(OAuthFailure) -> Redemption {
        let result = state.withLock { state -> Result<Redemption, OAuthFailure> in
            do throws(OAuthFailure) { return .success(try attempt(&state)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    private func answer(_ redemption: Redemption, client: ProviderClient) async throws -> TokenAnswer {
        let grant = redemption.grant
        let now = now()
        let policy = state.withLock { $0.policy }
        guard let user = user(grant.username) else { throw OAuthFailure(.invalidGrant, "the person is gone") }

        let scope = redemption.scopes.joined(separator: " ")
        let expiry = now + policy.accessTokenLifetime
        let accessToken =
            switch options.accessTokenFormat {
            case .opaque: randomText()
            case .jwt:
                try await keys.withLock { $0 }.sign(
                    AccessTokenClaims(
                        iss: issuer, sub: user.subject, aud: issuer, exp: expiry, iat: now, jti: randomText(),
                        client_id: client.id, scope: scope),
                    by: options.idTokenAlgorithm, type: "at+jwt")
            }
        state.withLock {
            $0.tokens.addAccessToken(
                accessToken, AccessTokenRecord(grantID: grant.id, scopes: redemption.scopes, expiresAt: expiry))
        }
        var idToken: String?
        if redemption.scopes.contains("openid") {
            var claims = IDTokenClaims(
                iss: issuer, sub: user.subject, aud: client.id, exp: now + policy.idTokenLifetime, iat: now,
                auth_time: grant.authenticatedAt, nonce: redemption.nonce, at_hash: accessTokenHash(accessToken),
                sid: grant.sessionID)
            if grant.scopes.contains("profile") {
                claims.preferred_username = user.username
                claims.name = user.name
            }
            if grant.scopes.contains("email") {
                claims.email = user.email
                claims.email_verified = true
            }
            idToken = try await sign(claims)
        }
        return TokenAnswer(
            access_token: accessToken, expires_in: policy.accessTokenLifetime,
            refresh_token: redemption.refreshToken, id_token: idToken, scope: scope)
    }
}

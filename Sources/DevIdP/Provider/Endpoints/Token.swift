import Hummingbird

/// The token endpoint (RFC 6749, section 3.2).
extension Provider {
    func token(_ request: Request, _ context: ProviderContext) throws -> Response {
        let form = context.form
        if let name = form.repeatedByMistake {
            throw OAuthFailure(.invalidRequest, "\(name) came more than once")
        }
        let realm = try realm(of: context)
        let client = try authenticateClient(request, form)
        let proofKey = try provenKey(request)
        let policy = state.withLock { $0.policy }
        if proofKey == nil, policy.requiresProof || client.requiresProof {
            throw OAuthFailure(.invalidProof, "this client's tokens are bound to a key: send a DPoP proof")
        }
        let requester = TokenRequester(
            client: client, proofKey: proofKey, policy: policy, now: now(), freshName: randomText())
        let redemption = try redeem(form, realm: realm, by: requester)
        return try json(try answer(redemption, realm: realm, form: form, to: requester), headers: proofHeaders())
    }

    private func redeem(
        _ form: FormValues, realm: Realm, by requester: TokenRequester
    ) throws(OAuthFailure) -> Redemption {
        let resources = try resourceList(form)
        let claims = try ClaimsRequest(form["claims"])
        switch form["grant_type"] {
        case "authorization_code":
            guard let code = form["code"] else { throw OAuthFailure(.invalidRequest, "code is missing") }
            let redemption = try exchange(claims, resources) { state throws(OAuthFailure) in
                try state.tokens.redeem(
                    code: code, redirectURI: form["redirect_uri"], verifier: form["code_verifier"], by: requester)
            }
            return narrow(redemption, to: form["scope"])
        case "refresh_token":
            guard let token = form["refresh_token"] else {
                throw OAuthFailure(.invalidRequest, "refresh_token is missing")
            }
            let scopes = try form["scope"].map { text throws(OAuthFailure) in try knownScopes(text) }
            return try exchange(claims, []) { state throws(OAuthFailure) in
                var redemption = try state.tokens.redeem(
                    refreshToken: token, scopes: scopes, resources: resources, rules: flavor.refreshRules,
                    isFamily: { self.client($0)?.isFamilyMember ?? false }, by: requester)
                redemption.scopes.removeAll { options.declinedScopes.contains($0) }
                try requireConsent(redemption, requester.client, state)
                return redemption
            }
        case Self.deviceGrant:
            guard let code = form["device_code"] else { throw OAuthFailure(.invalidRequest, "device_code is missing") }
            return try exchange(claims, resources) { state throws(OAuthFailure) in
                let grant = try state.devices.poll(code, clientID: requester.client.id, now: requester.now)
                return state.tokens.redeem(device: grant, by: requester)
            }
        case nil: throw OAuthFailure(.invalidRequest, "grant_type is missing")
        default: throw OAuthFailure(.unsupportedGrantType, "only codes, refresh tokens and device codes")
        }
    }

    /// If a grant is for several resources, the client names the one it wants first at the token endpoint.
    private func narrow(_ redemption: Redemption, to scope: String?) -> Redemption {
        guard flavor.refreshRules.allowsOtherScopes, let scope else { return redemption }
        var narrowed = redemption
        narrowed.scopes = scopeList(scope).filter { redemption.grant.scopes.contains($0) }
        return narrowed
    }

    /// Scopes outside the grant are issued if the person consented to them another time.
    private func requireConsent(
        _ redemption: Redemption, _ client: ProviderClient, _ state: ProviderState
    ) throws(OAuthFailure) {
        let grant = redemption.grant
        let fresh = redemption.scopes.filter { !grant.scopes.contains($0) }
        guard options.asksConsent, !fresh.isEmpty else { return }
        guard state.hasConsent(grant.username, clientID: client.id, scopes: fresh) else {
            throw OAuthFailure(
                .invalidGrant, "The person has not consented to \(fresh.joined(separator: ", ")).", .consentMissing)
        }
    }

    func takes(scope: String) -> Bool { flavor.takes(scope: scope) && !options.refusedScopes.contains(scope) }

    private func knownScopes(_ text: String) throws(OAuthFailure) -> [String] {
        let scopes = scopeList(text)
        if let unknown = scopes.first(where: { !takes(scope: $0) }) {
            throw OAuthFailure(.invalidScope, "unknown scope \(unknown)")
        }
        return scopes
    }

    /// A refused exchange may still change the state: it revokes a family. So the error is returned as a value.
    ///
    /// - Parameters:
    ///   - claims: of the token request; they are added to those of the authorization request.
    ///   - resources: a subset of the authorized ones, for the tokens (RFC 8707, section 2.2).
    private func exchange(
        _ claims: ClaimsRequest, _ resources: [String],
        _ attempt: (inout ProviderState) throws(OAuthFailure) -> Redemption
    ) throws(OAuthFailure) -> Redemption {
        let result = state.withLock { state -> Result<Redemption, OAuthFailure> in
            let before = state
            do throws(OAuthFailure) {
                var redemption = try attempt(&state)
                if !redemption.grant.claims.merged(with: claims).covers(state.requiredClaims) {
                    // A challenge consumes nothing.
                    let challenge = state.requiredClaims
                    state = before
                    throw OAuthFailure(
                        .interactionRequired, "more is asked of this person or this client than the request carries",
                        .claimsMissing((try? jsonText(challenge.members)) ?? "{}"))
                }
                if !resources.isEmpty {
                    guard resources.allSatisfy(redemption.resources.contains) else {
                        throw OAuthFailure(.invalidTarget, "the resource was not in the authorization request")
                    }
                    redemption.resources = resources
                }
                return .success(redemption)
            } catch { return .failure(error) }
        }
        return try result.get()
    }

    /// RFC 6749, section 5.1.
    private func answer(
        _ redemption: Redemption, realm: Realm, form: FormValues, to requester: TokenRequester
    ) throws -> [String: JSON] {
        let grant = redemption.grant
        guard let user = user(grant.username) else { throw OAuthFailure(.invalidGrant, "the person is gone") }
        let identity = try flavor.identity(of: user, in: realm, for: requester.client)
        let scopes = try flavor.accessScopes(redemption.scopes)
        let record = AccessTokenRecord(
            grantID: grant.id, clientID: requester.client.id, identity: identity, scopes: scopes,
            audience: flavor.audience(scopes: scopes, resources: redemption.resources, realm: realm),
            proofKey: requester.accessTokenKey, expiresAt: requester.now + requester.policy.accessTokenLifetime)
        let accessToken = try accessToken(record, grant: grant, now: requester.now)
        state.withLock {
            $0.tokens.addAccessToken(accessToken, record)
            $0.subjects[identity.subject] = user.username
        }
        var members: [String: JSON] = [
            "access_token": .string(accessToken), "token_type": requester.accessTokenKey == nil ? "Bearer" : "DPoP",
            "expires_in": .integer(requester.policy.accessTokenLifetime),
            "scope": .string(scopes.joined(separator: " ")),
        ]
        members["refresh_token"] = redemption.refreshToken.map { .string($0) }
        if redemption.scopes.contains("openid") {
            let claims = idToken(redemption, identity, user, accessToken: accessToken, requester)
            members["id_token"] = .string(try sign(claims))
        }
        flavor.finish(
            answer: &members,
            to: TokenIssue(
                client: requester.client, user: user, identity: identity, grant: grant, form: form,
                policy: requester.policy))
        return members
    }

    private func accessToken(_ record: AccessTokenRecord, grant: Grant, now: Int) throws -> String {
        guard options.accessTokenFormat == .jwt else { return randomText() }
        // RFC 9068, section 2.2; RFC 9449, section 6.1.
        var claims = record.identity.claims
        claims["iss"] = .string(record.identity.issuer)
        claims["sub"] = .string(record.identity.subject)
        claims["aud"] = record.audience.count == 1 ? .string(record.audience[0]) : .strings(record.audience)
        claims["exp"] = .integer(record.expiresAt)
        claims["iat"] = .integer(now)
        claims["jti"] = .string(randomText())
        claims["client_id"] = .string(record.clientID)
        claims["scope"] = .string(record.scopes.joined(separator: " "))
        claims["auth_time"] = .integer(grant.authenticatedAt)
        claims["acr"] = grant.acr.map { .string($0) }
        claims["cnf"] = record.proofKey.map { ["jkt": .string($0)] }
        return try sign(claims, type: "at+jwt")
    }

    /// OpenID Connect Core, sections 2 and 12.2.
    private func idToken(
        _ redemption: Redemption, _ identity: Identity, _ user: ProviderUser, accessToken: String,
        _ requester: TokenRequester
    ) -> [String: JSON] {
        let grant = redemption.grant
        var claims = identity.claims
        claims["iss"] = .string(identity.issuer)
        claims["sub"] = .string(identity.subject)
        claims["aud"] = .string(requester.client.id)
        claims["exp"] = .integer(requester.now + requester.policy.idTokenLifetime)
        claims["iat"] = .integer(requester.now)
        claims["auth_time"] = .integer(grant.authenticatedAt)
        claims["nonce"] = redemption.nonce.map { .string($0) }
        claims["at_hash"] = .string(accessTokenHash(accessToken))
        claims["acr"] = grant.acr.map { .string($0) }
        claims["sid"] = .string(grant.sessionID)
        let facts = personalClaims(
            of: user, identity, scopes: grant.scopes, wanted: grant.claims.names(in: "id_token"))
        claims.merge(facts) { $1 }
        return claims
    }

    /// The claims about a person that the scopes, or the `claims` parameter, disclose (OpenID Connect Core, section 5.4).
    func personalClaims(
        of user: ProviderUser, _ identity: Identity, scopes: [String], wanted: Set<String>
    ) -> [String: JSON] {
        let byScope: [(scope: String, claim: String, value: JSON)] = [
            ("profile", "preferred_username", .string(identity.username)), ("profile", "name", .string(user.name)),
            ("email", "email", .string(user.email)), ("email", "email_verified", true),
        ]
        let told = byScope.filter { scopes.contains($0.scope) || wanted.contains($0.claim) }
        return Dictionary(uniqueKeysWithValues: told.map { ($0.claim, $0.value) })
    }
}

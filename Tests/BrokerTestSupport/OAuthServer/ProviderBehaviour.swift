import BrokerModel
import BrokerValues
import Foundation

/// The state of a scripted provider.
struct ScriptedProviderState {
    var identity: SigningIdentity
    var published: [JSONObject]
    var behaviour = ScriptedProvider.Behaviour()
    var scripts: [String: ScriptedProvider.Script] = [:]
    var log: [ProviderRequest] = []
    var codes: [String: ScriptedProvider.Grant] = [:]
    var refreshTokens: [String: ScriptedProvider.Grant] = [:]
    var spentRefreshTokens: [String: ScriptedProvider.Grant] = [:]
    var accessTokens: [String: ScriptedProvider.Grant] = [:]
    var counter = 0
    var refreshes = 0

    init(identity: SigningIdentity) {
        self.identity = identity
        published = [identity.jwk]
    }

    /// Different each time, and distinguishable by eye.
    mutating func fresh(_ prefix: String) -> String {
        counter += 1
        return "\(prefix)-\(counter)-\(UUID().uuidString.lowercased())"
    }
}

extension ScriptedProvider {
    /// A person's consent.
    package struct Grant: Sendable, Equatable {
        package var subject: String
        package var clientID: String
        package var redirectURI: String
        package var scope: String
        package var nonce: String?
        package var codeChallenge: String?
        var family = UUID()

        package init(
            subject: String = "alice", clientID: String, redirectURI: String,
            scope: String = "openid profile offline_access", nonce: String? = nil, codeChallenge: String? = nil
        ) {
            self.subject = subject
            self.clientID = clientID
            self.redirectURI = redirectURI
            self.scope = scope
            self.nonce = nonce
            self.codeChallenge = codeChallenge
        }
    }

    /// A code, as if the person had just signed in and consented.
    package func issueCode(_ grant: Grant) -> String {
        state.withLock { state in
            let code = state.fresh("code")
            state.codes[code] = grant
            return code
        }
    }

    /// Acts like the browser on an authorization URL when the person consents.
    ///
    /// - Parameters:
    ///   - authorizationURL: as the broker made it.
    ///   - subject: the person who signs in.
    ///   - changing: modifies the parameters of the redirect before they are encoded.
    /// - Returns: the redirect URL that the browser is sent to.
    package func approve(
        _ authorizationURL: String, as subject: String = "alice",
        changing: (inout [String: String]) -> Void = { _ in }
    ) -> String {
        let asked = RedirectParameters(redirectURL: authorizationURL[...])
        let redirectURI = asked["redirect_uri"] ?? ""
        let code = issueCode(
            Grant(
                subject: subject, clientID: asked["client_id"] ?? "", redirectURI: redirectURI,
                scope: asked["scope"] ?? "", nonce: asked["nonce"], codeChallenge: asked["code_challenge"]))
        var answer = ["code": code, "iss": issuer]
        answer["state"] = asked["state"]
        changing(&answer)
        var components = URLComponents(string: redirectURI) ?? URLComponents()
        components.queryItems = answer.sorted { $0.key < $1.key }.map { URLQueryItem(name: $0, value: $1) }
        // A plus sign means a space in a query that is read as a form.
        components.percentEncodedQuery = components.percentEncodedQuery?.replacingOccurrences(of: "+", with: "%2B")
        return components.string ?? ""
    }

    /// An ID token for a grant, signed with the current key.
    package func idToken(for grant: Grant) -> String {
        let now = now()
        return state.withLock { state in
            var claims: JSONObject = [
                "iss": .string(issuer), "sub": .string(grant.subject), "aud": .string(grant.clientID),
                "iat": .integer(now), "exp": .integer(now + state.behaviour.idTokenLifetime),
                "auth_time": .integer(now), "preferred_username": .string(grant.subject),
                "name": .string(grant.subject.capitalized),
            ]
            claims["nonce"] = grant.nonce.map(JSONValue.string)
            claims.merge(state.behaviour.claims) { $1 }
            return state.identity.sign(claims.filter { $0.value != .null })
        }
    }

    func normalAnswer(to request: ProviderRequest) -> ProviderAnswer {
        switch (request.method, Endpoint(rawValue: request.path)) {
        case ("GET", .discovery): .json(.object(discoveryDocument))
        case ("GET", .keys): .json(.object(["keys": .array(state.withLock { $0.published.map(JSONValue.object) })]))
        case ("GET", .authorize): authorize(request)
        case ("POST", .token): token(request)
        case ("GET", .userinfo): userinfo(request)
        default: .empty(404)
        }
    }

    package var discoveryDocument: JSONObject {
        let issuer = issuer
        func url(_ endpoint: Endpoint) -> JSONValue { .string(issuer + endpoint.rawValue) }
        var document: JSONObject = [
            "issuer": .string(issuer),
            "authorization_endpoint": url(.authorize),
            "token_endpoint": url(.token),
            "jwks_uri": url(.keys),
            "userinfo_endpoint": url(.userinfo),
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [.string(identity.algorithm)],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_basic", "client_secret_post"],
            "authorization_response_iss_parameter_supported": true,
        ]
        document.merge(state.withLock { $0.behaviour.metadata }) { $1 }
        return document.filter { $0.value != .null }
    }

    /// Consents to everything at once: for tests that fetch the URL instead of opening a browser.
    private func authorize(_ request: ProviderRequest) -> ProviderAnswer {
        guard request.query["response_type"] == "code", request.query["redirect_uri"] != nil else { return .empty(400) }
        let query = request.query.map { name, value in
            "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
        }
        return .redirect(to: approve("\(issuer)/authorize?\(query.joined(separator: "&"))"))
    }

    private func token(_ request: ProviderRequest) -> ProviderAnswer {
        let form = request.form
        let credentials = request.basicCredentials
        guard let clientID = credentials?.id ?? form["client_id"] else {
            return .oauthError("invalid_client", status: 401)
        }
        if let secret = state.withLock({ $0.behaviour.clientSecret }),
            (credentials?.secret ?? form["client_secret"]) != secret
        {
            return .oauthError("invalid_client", status: 401)
        }
        switch form["grant_type"] {
        case "authorization_code":
            guard let code = form["code"], let grant = state.withLock({ $0.codes.removeValue(forKey: code) }),
                grant.clientID == clientID, grant.redirectURI == form["redirect_uri"],
                grant.codeChallenge == nil
                    || grant.codeChallenge == form["code_verifier"].map({ PKCE(verifier: $0).challenge })
            else { return .oauthError("invalid_grant") }
            return .json(.object(issue(grant)))
        case "refresh_token":
            guard let grant = spend(form["refresh_token"] ?? ""), grant.clientID == clientID else {
                return .oauthError("invalid_grant", description: "The refresh token is not valid.")
            }
            return .json(.object(issue(grant, refreshing: form["refresh_token"])))
        default:
            return .oauthError("unsupported_grant_type")
        }
    }

    /// A refresh token that was used before ends the whole chain (RFC 9700, section 4.14.2).
    private func spend(_ token: String) -> Grant? {
        state.withLock { state in
            if let stolen = state.spentRefreshTokens[token] {
                state.refreshTokens = state.refreshTokens.filter { $0.value.family != stolen.family }
                return nil
            }
            guard let grant = state.refreshTokens[token] else { return nil }
            if state.behaviour.rotatesRefreshTokens {
                state.refreshTokens[token] = nil
                state.spentRefreshTokens[token] = grant
            }
            state.refreshes += 1
            return grant
        }
    }

    private func issue(_ grant: Grant, refreshing: String? = nil) -> JSONObject {
        let idToken = idToken(for: grant)
        return state.withLock { state in
            let behaviour = state.behaviour
            let accessToken = state.fresh("at")
            state.accessTokens[accessToken] = grant
            var answer: JSONObject = [
                "access_token": .string(accessToken), "token_type": "Bearer",
                "expires_in": .integer(behaviour.accessTokenLifetime),
                "scope": .string(behaviour.grantedScope ?? grant.scope),
            ]
            if behaviour.issuesIDTokens { answer["id_token"] = .string(idToken) }
            if behaviour.issuesRefreshTokens, refreshing == nil || behaviour.rotatesRefreshTokens {
                let refreshToken = state.fresh("rt")
                state.refreshTokens[refreshToken] = grant
                answer["refresh_token"] = .string(refreshToken)
            }
            return answer
        }
    }

    private func userinfo(_ request: ProviderRequest) -> ProviderAnswer {
        let token = request.headers["authorization"].map { String($0.dropFirst("Bearer ".count)) } ?? ""
        guard let grant = state.withLock({ $0.accessTokens[token] }) else { return .empty(401) }
        return .json(["sub": .string(grant.subject), "name": .string(grant.subject.capitalized)])
    }
}

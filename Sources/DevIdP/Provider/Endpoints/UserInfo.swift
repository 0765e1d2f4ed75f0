import Hummingbird

/// The protected resource (OpenID Connect Core, section 5.3), for tokens of either type.
extension Provider {
    func userInfo(_ request: Request) async throws -> Response {
        try serve(request, scope: { $0 == "openid" }, named: "openid", info)
    }

    /// The part of Microsoft Graph that an app needs to show the person.
    func graphUser(_ request: Request) async throws -> Response {
        let names = ["user.read", "\(EntraFlavor.graph)/user.read"]
        return try serve(request, scope: { names.contains($0.lowercased()) }, named: "User.Read") { user, record, _ in
            let members: [String: JSON] = [
                "id": record.identity.claims["oid"] ?? .string(record.identity.subject),
                "displayName": .string(user.name), "mail": .string(user.email),
                "userPrincipalName": .string(record.identity.username),
            ]
            return try json(members, headers: proofHeaders())
        }
    }

    /// A protected resource.
    ///
    /// - Parameters:
    ///   - scope: whether a scope of the token grants access.
    ///   - name: of that scope.
    private func serve(
        _ request: Request, scope: (String) -> Bool, named name: String,
        _ answer: (ProviderUser, AccessTokenRecord, Grant) throws -> Response
    ) throws -> Response {
        guard let header = request.headers[.authorization] else {
            return Response(status: .unauthorized, headers: [.wwwAuthenticate: Self.tokenChallenge])
        }
        let parts = header.split(separator: " ").map(String.init)
        let scheme = parts.first?.lowercased()
        guard parts.count == 2, let scheme, ["bearer", "dpop"].contains(scheme) else {
            return try denial(.badRequest, OAuthFailure(.invalidRequest, "send Authorization: Bearer, or DPoP"))
        }
        let token = parts[1]
        do {
            let now = now()
            guard let (record, grant) = state.withLock({ $0.tokens.accessToken(token, now: now) }),
                let user = user(grant.username)
            else { throw OAuthFailure(.invalidToken, "the token is unknown, expired or revoked") }
            // RFC 9449, section 7.1: a bound token is valid only with its proof.
            let key = scheme == "dpop" ? try provenKey(request, accessToken: token) : nil
            guard scheme == "dpop" ? key != nil : true else {
                throw OAuthFailure(.invalidProof, "the DPoP scheme needs a proof")
            }
            guard record.proofKey == key else {
                throw OAuthFailure(.invalidToken, "the token's type or key does not go with this request")
            }
            guard record.scopes.contains(where: scope) else {
                throw OAuthFailure(.insufficientScope, "the scope \(name) is missing")
            }
            return try answer(user, record, grant)
        } catch let failure as OAuthFailure {
            return try denial(failure.code == .insufficientScope ? .forbidden : .unauthorized, failure)
        }
    }

    private func info(
        _ user: ProviderUser, _ record: AccessTokenRecord, _ grant: Grant
    ) throws -> Response {
        var members = personalClaims(
            of: user, record.identity, scopes: record.scopes, wanted: grant.claims.names(in: "userinfo"))
        members["sub"] = .string(record.identity.subject)
        return try json(members, headers: proofHeaders())
    }

    private static let tokenChallenge = "Bearer realm=\"dev-idp\", DPoP algs=\"ES256\""

    /// RFC 6750, section 3; RFC 9449, section 7.1.
    private func denial(_ status: HTTPResponse.Status, _ failure: OAuthFailure) throws -> Response {
        let isAboutProof = failure.code == .invalidProof || failure.code == .useProofNonce
        let detail = "error=\"\(failure.code.rawValue)\", error_description=\"\(failure.description)\""
        var headers = proofHeaders()
        headers[.wwwAuthenticate] =
            isAboutProof ? "DPoP \(detail), algs=\"ES256\"" : "Bearer realm=\"dev-idp\", \(detail)"
        let members = ["error": failure.code.rawValue, "error_description": failure.description]
        return try json(members, status: status, headers: headers)
    }
}

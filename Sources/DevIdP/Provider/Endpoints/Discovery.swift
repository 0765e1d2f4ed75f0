import Hummingbird

/// OpenID Connect Discovery, section 3; RFC 8414, section 2.
private struct Metadata: Encodable {
    let issuer: String
    let authorization_endpoint: String
    let token_endpoint: String
    let userinfo_endpoint: String
    let jwks_uri: String
    let revocation_endpoint: String
    let end_session_endpoint: String
    let scopes_supported: [String]
    let response_types_supported = ["code"]
    let response_modes_supported = ["query"]
    let grant_types_supported = ["authorization_code", "refresh_token"]
    let subject_types_supported = ["public"]
    let id_token_signing_alg_values_supported = SigningAlgorithm.allCases.map(\.rawValue)
    let token_endpoint_auth_methods_supported = ["none", "client_secret_basic", "client_secret_post"]
    let revocation_endpoint_auth_methods_supported = ["none", "client_secret_basic", "client_secret_post"]
    let code_challenge_methods_supported = ["S256"]
    let prompt_values_supported = ["none", "login", "consent", "select_account"]
    let claims_supported = [
        "iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "at_hash", "sid", "preferred_username", "name",
        "email", "email_verified",
    ]
    let authorization_response_iss_parameter_supported = true
    let request_parameter_supported = false
    let request_uri_parameter_supported = false
}

private struct KeySet: Encodable {
    let keys: [PublishedKey]
}

extension Provider {
    func metadata() throws -> Response {
        let issuer = issuer
        let metadata = Metadata(
            issuer: issuer, authorization_endpoint: issuer + "/authorize", token_endpoint: issuer + "/token",
            userinfo_endpoint: issuer + "/userinfo", jwks_uri: issuer + "/jwks",
            revocation_endpoint: issuer + "/revoke", end_session_endpoint: issuer + "/logout",
            scopes_supported: options.scopes.sorted())
        return try json(metadata, headers: [.cacheControl: "public, max-age=300"])
    }

    func publishedKeys() throws -> Response {
        try json(KeySet(keys: keys.withLock { $0.published }), headers: [.cacheControl: "public, max-age=300"])
    }

    func rotateKeys() async throws {
        let fresh = try await SigningKeys.generate()
        keys.withLock { $0 = fresh }
    }
}

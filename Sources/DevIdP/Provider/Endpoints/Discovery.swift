import Hummingbird

private struct KeySet: Encodable {
    let keys: [PublishedKey]
}

extension Provider {
    /// OpenID Connect Discovery, section 3; RFC 8414, section 2.
    func metadata(_ context: ProviderContext) throws -> Response {
        let realm = try realm(of: context)
        var members = endpoints(of: realm)
        members.merge(capabilities) { $1 }
        flavor.finish(discovery: &members, of: realm)
        return try json(members, headers: [.cacheControl: "public, max-age=300"])
    }

    private func endpoints(of realm: Realm) -> [String: JSON] {
        let paths = flavor.paths
        let places: [String: String?] = [
            "authorization_endpoint": paths.authorize, "token_endpoint": paths.token,
            "userinfo_endpoint": paths.userInfo, "jwks_uri": paths.keys, "end_session_endpoint": paths.endSession,
            "device_authorization_endpoint": paths.deviceAuthorization, "revocation_endpoint": paths.revoke,
            "pushed_authorization_request_endpoint": paths.push, "registration_endpoint": paths.register,
            "introspection_endpoint": paths.introspect,
        ]
        var members = places.compactMapValues { path in path.map { JSON.string(realm.base + $0) } }
        members["issuer"] = .string(realm.base)
        if paths.push != nil {
            members["require_pushed_authorization_requests"] = .bool(
                state.withLock { $0.policy.requiresPushedAuthorization })
        }
        return members
    }

    private var capabilities: [String: JSON] {
        let authentication: JSON = ["none", "client_secret_basic", "client_secret_post"]
        return [
            "response_types_supported": ["code"], "response_modes_supported": ["query", "form_post"],
            "grant_types_supported": ["authorization_code", "refresh_token", .string(Self.deviceGrant)],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": .strings(SigningAlgorithm.allCases.map(\.rawValue)),
            "token_endpoint_auth_methods_supported": authentication,
            "revocation_endpoint_auth_methods_supported": authentication,
            "dpop_signing_alg_values_supported": ["ES256"],
            "prompt_values_supported": .strings(AuthorizationRequest.Prompt.allCases.map(\.rawValue)),
            "claims_parameter_supported": true, "request_parameter_supported": false,
            "request_uri_parameter_supported": false,
            "claims_supported": [
                "iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "at_hash", "acr", "sid", "preferred_username",
                "name", "email", "email_verified",
            ],
        ]
    }

    func publishedKeys() throws -> Response {
        try json(KeySet(keys: keys.withLock { $0.published }), headers: [.cacheControl: "public, max-age=300"])
    }

    func rotateKeys() throws(KeyFailure) {
        let fresh = try SigningKeys()
        keys.withLock { $0 = fresh }
    }
}

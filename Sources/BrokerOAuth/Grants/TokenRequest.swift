import BrokerModel

/// A request to the token endpoint (RFC 6749, section 4.1.3 and 6), with the client's authentication (section 2.3.1).
enum TokenRequest {
    static func build(
        _ grant: TokenGrant, with extras: TokenRequestExtras, as client: ClientCredentials,
        at metadata: ProviderMetadata
    ) throws(ProviderError) -> HTTPRequest {
        var body = FormBody()
        switch grant {
        case .authorizationCode(let code, let verifier, let redirectURI):
            body.add("grant_type", "authorization_code")
            body.add("code", code)
            body.add("redirect_uri", redirectURI)
            body.add("code_verifier", verifier)
        case .refreshToken(let token, let scopes):
            body.add("grant_type", "refresh_token")
            body.add("refresh_token", token)
            if !scopes.isEmpty { body.add("scope", scopes.parameter) }
        case .deviceCode(let code):
            body.add("grant_type", "urn:ietf:params:oauth:grant-type:device_code")
            body.add("device_code", code)
        }
        if let claims = extras.claims { body.add("claims", claims) }
        var headers = [
            HTTPHeader("Content-Type", FormBody.contentType),
            HTTPHeader("Accept", "application/json"),
        ]
        switch try authentication(of: client, at: metadata) {
        case .none:
            body.add("client_id", client.clientID)
        case .post(let secret):
            body.add("client_id", client.clientID)
            body.add("client_secret", secret)
        case .basic(let secret):
            headers.append(HTTPHeader("Authorization", secret: basic(client.clientID, secret)))
        }
        return HTTPRequest(
            .post, metadata.tokenEndpoint, headers: headers, body: body.secret(), isRepeatable: false)
    }

    private enum Authentication {
        case none
        case basic(Secret)
        case post(Secret)
    }

    private static func authentication(
        of client: ClientCredentials, at metadata: ProviderMetadata
    ) throws(ProviderError) -> Authentication {
        guard let secret = client.secret else { return .none }
        let methods = metadata.tokenEndpointAuthMethods
        if methods.contains("client_secret_basic") { return .basic(secret) }
        if methods.contains("client_secret_post") { return .post(secret) }
        throw .invalidResponse(
            status: nil,
            "The provider takes no client secret at its token endpoint. Register the app without one, or another way of "
                + "authentication with the provider.")
    }

    /// Id and secret are form-encoded before they are joined: either may hold a colon.
    private static func basic(_ clientID: String, _ secret: Secret) -> Secret {
        var pair = SecretText()
        pair.append(encoding: clientID, spaceAsPlus: true)
        pair.append(":")
        pair.append(encoding: secret, spaceAsPlus: true)
        return Base64.encode(pair.secret(), prefix: "Basic ")
    }
}

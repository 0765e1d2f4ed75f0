import BrokerModel
import BrokerValues

/// A request to the token endpoint (RFC 6749, section 4.1.3 and 6; RFC 8628, section 3.4; RFC 8707, section 2.2).
enum TokenRequestBuilder {
    static func build(
        _ grant: TokenGrant, with extras: TokenRequestExtras, to endpoint: WebURL, as client: ClientCredentials,
        at metadata: ProviderMetadata
    ) throws(ProviderError) -> HTTPRequest {
        var form = ClientForm()
        switch grant {
        case .authorizationCode(let code, let verifier, let redirectURI):
            form.body.add("grant_type", "authorization_code")
            form.body.add("code", code)
            form.body.add("redirect_uri", redirectURI)
            form.body.add("code_verifier", verifier)
        case .refreshToken(let token, let scopes):
            form.body.add("grant_type", "refresh_token")
            form.body.add("refresh_token", token)
            if !scopes.isEmpty { form.body.add("scope", scopes.parameter) }
        case .deviceCode(let code):
            form.body.add("grant_type", "urn:ietf:params:oauth:grant-type:device_code")
            form.body.add("device_code", code)
        }
        if let claims = extras.claims { form.body.add("claims", claims) }
        for resource in extras.resources { form.body.add(metadata.resourceParameter, resource) }
        if extras.asksClientInfo { form.body.add("client_info", "1") }
        for (name, value) in extras.parameters.sorted(by: { $0.key < $1.key }) { form.body.add(name, value) }
        form.headers += RequestIdentity.headers(
            correlationID: extras.correlationID, home: extras.home, at: metadata.authority)
        var request = try form.request(to: endpoint, as: client, at: metadata)
        if case .refreshToken = grant { request.takesLateAnswer = true }
        return request
    }
}

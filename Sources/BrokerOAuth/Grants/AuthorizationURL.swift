import BrokerModel
import BrokerValues

/// The authorization request as a URL (RFC 6749, section 4.1.1; RFC 7636, section 4.3; OpenID Connect Core, section
/// 3.1.2.1).
enum AuthorizationURL {
    static func build(_ request: AuthorizationRequest, at metadata: ProviderMetadata) -> String {
        var request = request
        request.idTokenHint = request.idTokenHint.flatMap(IDTokenHint.inAddress)
        return HandOver.address(
            PercentEncoding.url(metadata.authorizationEndpoint, adding: parameters(of: request, at: metadata)))
    }

    /// The parameters of a URL or a pushed request, in a fixed order, so that one request always gives one URL.
    static func parameters(of request: AuthorizationRequest, at metadata: ProviderMetadata) -> [(String, String)] {
        var parameters: [(String, String)] = [
            ("client_id", request.clientID),
            ("response_type", "code"),
            ("redirect_uri", request.redirectURI),
            ("scope", request.scopes.parameter),
            ("state", request.state),
            ("nonce", request.nonce),
            ("code_challenge", request.codeChallenge),
            ("code_challenge_method", "S256"),
            ("client-request-id", request.correlationID),
        ]
        func add(_ name: String, _ value: String?) {
            if let value, !value.isEmpty { parameters.append((name, value)) }
        }
        add("prompt", request.prompts)
        add("login_hint", request.loginHint)
        // An app may know a better one.
        if !request.extraQueryParameters.keys.contains(where: { $0.lowercased() == "id_token_hint" }) {
            add("id_token_hint", request.idTokenHint?.revealed())
        }
        add("domain_hint", request.domainHint)
        add("claims", request.claims)
        add("max_age", request.maxAge.map { String($0) })
        add("acr_values", request.acrValues.joined(separator: " "))
        for resource in request.resources { add(metadata.resourceParameter, resource) }
        add("dpop_jkt", request.proofKeyThumbprint)
        if request.asksClientInfo { add("client_info", "1") }
        if request.asksForForm { add("response_mode", "form_post") }
        if request.isInstanceAware { add("instance_aware", "true") }
        let given = Set(parameters.map(\.0) + request.extraQueryParameters.keys.map { $0.lowercased() })
            .union(AuthorizationRequest.reservedForRegistrations)
        let habits = KnownProviders.habits(at: metadata.authority.environment)?.query ?? [:]
        for (name, value) in habits.merging(request.registeredParameters, uniquingKeysWith: { $1 }).sorted(by: {
            $0.key < $1.key
        }) where !given.contains(name.lowercased()) {
            parameters.append((name, value))
        }
        let taken = AuthorizationRequest.reservedParameters.union(parameters.map(\.0))
        for (name, value) in request.extraQueryParameters.sorted(by: { $0.key < $1.key })
        where !taken.contains(name.lowercased()) {
            parameters.append((name, value))
        }
        return parameters
    }
}

import BrokerModel

/// The authorization request as a URL (RFC 6749, section 4.1.1; RFC 7636, section 4.3; OpenID Connect Core, section
/// 3.1.2.1).
enum AuthorizationURL {
    /// The endpoint may have a query of its own, which stays (RFC 6749, section 3.1).
    static func build(_ request: AuthorizationRequest, endpoint: String) -> String {
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
        add("prompt", request.prompt?.rawValue)
        add("login_hint", request.loginHint)
        add("domain_hint", request.domainHint)
        add("claims", request.claims)
        // In a fixed order, so that one request always gives one URL.
        for (name, value) in request.extraQueryParameters.sorted(by: { $0.key < $1.key })
        where !reserved.contains(name.lowercased()) {
            parameters.append((name, value))
        }
        let query = parameters.map { "\(PercentEncoding.encode($0))=\(PercentEncoding.encode($1))" }
            .joined(separator: "&")
        let separator =
            if !endpoint.contains("?") { "?" } else if endpoint.hasSuffix("?") || endpoint.hasSuffix("&") { "" } else {
                "&"
            }
        return endpoint + separator + query
    }

    /// What an app's extra parameters may not set: what the broker itself answers for, and what would move the request or
    /// its answer to another place (`request`, `request_uri`, `response_mode`).
    static let reserved: Set<String> = [
        "client_id", "response_type", "redirect_uri", "scope", "state", "nonce", "code_challenge",
        "code_challenge_method", "client-request-id", "prompt", "login_hint", "domain_hint", "claims",
        "response_mode", "request", "request_uri", "registration", "client_secret", "code_verifier", "dpop_jkt",
    ]
}

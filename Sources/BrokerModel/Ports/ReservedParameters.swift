extension AuthorizationRequest {
    /// What an app's ``extraQueryParameters`` may never set, in lower case: what the broker itself answers for, what would
    /// make the cache take a token for another (`resource`, and `audience`, as some providers call it; RFC 9396), and what would move the request or its answer to another place
    /// (`request`, `request_uri`, `response_mode`).
    package static let reservedParameters: Set<String> = [
        "client_id", "response_type", "redirect_uri", "scope", "state", "nonce", "code_challenge",
        "code_challenge_method", "client-request-id", "prompt", "login_hint", "domain_hint", "claims", "resource",
        "client_info", "instance_aware", "response_mode", "request", "request_uri", "registration", "client_secret",
        "code_verifier", "dpop_jkt", "audience", "authorization_details",
    ]

    /// What an app's registration may never set. Whoever may register an app decides for whom its tokens are (`audience`), and
    /// what a request says comes before the rest.
    package static let reservedForRegistrations = reservedParameters.subtracting([
        "audience", "domain_hint", "login_hint", "prompt",
    ])

    /// The same of a request to the token endpoint or for a device code.
    package static let reservedForTokens = reservedParameters.union([
        "grant_type", "code", "refresh_token", "device_code", "client_assertion", "client_assertion_type", "assertion",
        "subject_token", "subject_token_type", "actor_token", "actor_token_type", "requested_token_type",
    ])
}

extension EndSessionRequest {
    /// What an app's parameters of a sign-out may never set, in lower case.
    package static let reservedParameters: Set<String> = [
        "id_token_hint", "logout_hint", "client_id", "post_logout_redirect_uri", "state",
    ]
}

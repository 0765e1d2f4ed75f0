extension AuthorizationRequest {
    /// Names that an app's ``extraQueryParameters`` may never set, in lower case: those that the broker is responsible for, those
    /// that would make the cache confuse tokens (`resource`, and `audience`, as some providers call it; RFC 9396), and those that
    /// would move the request or its response elsewhere (`request`, `request_uri`, `response_mode`).
    package static let reservedParameters: Set<String> = [
        "client_id", "response_type", "redirect_uri", "scope", "state", "nonce", "code_challenge",
        "code_challenge_method", "client-request-id", "prompt", "login_hint", "domain_hint", "claims", "resource",
        "client_info", "instance_aware", "response_mode", "request", "request_uri", "registration", "client_secret",
        "code_verifier", "dpop_jkt", "audience", "authorization_details",
    ]

    /// Names that an app's registration may never set. The registration may choose the audience of the app's tokens (`audience`),
    /// and the request's own values take precedence over the rest.
    package static let reservedForRegistrations = reservedParameters.subtracting([
        "audience", "domain_hint", "login_hint", "prompt",
    ])

    /// The same for a request to the token endpoint or for a device code.
    package static let reservedForTokens = reservedParameters.union([
        "grant_type", "code", "refresh_token", "device_code", "client_assertion", "client_assertion_type", "assertion",
        "subject_token", "subject_token_type", "actor_token", "actor_token_type", "requested_token_type",
    ])
}

extension EndSessionRequest {
    /// Names that an app's parameters of a sign-out may never set, in lower case.
    package static let reservedParameters: Set<String> = [
        "id_token_hint", "logout_hint", "client_id", "post_logout_redirect_uri", "state",
    ]
}

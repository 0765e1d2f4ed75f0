/// An error as OAuth sends it: in a redirect (RFC 6749, section 4.1.2.1) or as JSON from the token endpoint (5.2).
struct OAuthFailure: Error, Sendable, Equatable {
    enum Code: String, Sendable {
        case invalidRequest = "invalid_request"
        case invalidClient = "invalid_client"
        case invalidGrant = "invalid_grant"
        case invalidScope = "invalid_scope"
        case unauthorizedClient = "unauthorized_client"
        case unsupportedGrantType = "unsupported_grant_type"
        case unsupportedResponseType = "unsupported_response_type"
        case requestNotSupported = "request_not_supported"
        case requestURINotSupported = "request_uri_not_supported"
        case accessDenied = "access_denied"
        case loginRequired = "login_required"
        case consentRequired = "consent_required"
        case accountSelectionRequired = "account_selection_required"
        case serverError = "server_error"
    }

    var code: Code
    /// For the developer who reads it; nothing in it depends on a secret.
    var description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}

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
        case serverError = "server_error"
        // OpenID Connect Core, section 3.1.2.6
        case loginRequired = "login_required"
        case consentRequired = "consent_required"
        case interactionRequired = "interaction_required"
        case accountSelectionRequired = "account_selection_required"
        // RFC 8628, section 3.5
        case authorizationPending = "authorization_pending"
        case slowDown = "slow_down"
        case expiredToken = "expired_token"
        // RFC 8707, section 2
        case invalidTarget = "invalid_target"
        // RFC 9449, sections 5 and 8
        case invalidProof = "invalid_dpop_proof"
        case useProofNonce = "use_dpop_nonce"
        // RFC 7591, section 3.2.2
        case invalidRedirectURI = "invalid_redirect_uri"
        case invalidClientMetadata = "invalid_client_metadata"
        // RFC 6750, section 3.1
        case invalidToken = "invalid_token"
        case insufficientScope = "insufficient_scope"
        // Specific to Entra
        case invalidTenant = "invalid_tenant"
        case invalidInstance = "invalid_instance"
    }

    /// The underlying cause if the code alone is ambiguous. Entra has a number for each.
    enum Cause: Sendable, Equatable {
        case codeExpired
        case codeUsed
        case verifierMismatch
        case refreshTokenExpired
        case refreshTokenRevoked
        /// A family refresh token used by a client outside the family.
        case clientMismatch
        case unknownClient
        case unknownTenant
        case unknownInstance
        case notInTenant
        /// The claims that a new request must contain, as JSON.
        case claimsMissing(String)
        case cancelled
        case deviceDeclined
        case consentMissing
        /// A fault ordered by a test (``Fault/Kind/refuse``).
        case ordered(number: Int?, subError: String?)
    }

    var code: Code
    /// For developers; independent of any secret.
    var description: String
    var cause: Cause?

    init(_ code: Code, _ description: String, _ cause: Cause? = nil) {
        self.code = code
        self.description = description
        self.cause = cause
    }
}

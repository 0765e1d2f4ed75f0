import BrokerValues

/// `error.data`: what a program decides by.
package struct ErrorData: MessageObject {
    package var kind = ErrorKind.internal
    package var retryable = false
    package var correlationId: String?
    package var reason: ErrorReason?
    package var field: String?
    package var oauthError: String?
    package var subError: String?
    package var description: String?
    package var claims: String?
    package var httpStatus: Int64?
    package var retryAfter: Int64?
    package var grantedScopes: [String]?
    package var declinedScopes: [String]?
    package var accounts: [Account]?
    package var app: String?
    package var caller: String?

    package init() {}

    package init(_ kind: ErrorKind) {
        self.kind = kind
        retryable = kind.isRetryable
    }

    package init(_ error: BrokerError) {
        self.init(error.kind)
        let details = error.details
        reason = error.reason
        correlationId = details.correlationID
        oauthError = details.oauthError
        subError = details.subError
        description = details.description
        claims = details.claims
        httpStatus = details.httpStatus.map(Int64.init)
        retryAfter = details.retryAfter.map(Int64.init)
        grantedScopes = details.grantedScopes
        declinedScopes = details.declinedScopes
        accounts = details.accounts
        app = details.app
        caller = details.caller
    }

    package static let componentName: String? = "ErrorData"

    package static let members: [Member<ErrorData>] = [
        .requiredOpen("kind", \.kind, "What went wrong."),
        .required(
            "retryable", \.retryable, "Whether the same request may succeed later without anybody doing anything."),
        .optional("correlationId", \.correlationId, "The request's correlation id: look for it in the broker's log."),
        .open("reason", \.reason, "Which of several causes."),
        .optional("field", \.field, "The param that is wrong, as account.id or scopes[1]."),
        .optional("oauthError", \.oauthError, "The provider's error code (RFC 6749, section 5.2)."),
        .optional("subError", \.subError, "The provider's second error code, where it sends one."),
        .optional("description", \.description, "The provider's own words; for people, not for decisions."),
        .optional(
            "claims", \.claims, "A claims challenge of the provider: hand it to token.acquireInteractive as claims."),
        .optional("httpStatus", \.httpStatus, "Status of the provider's answer."),
        .optional("retryAfter", \.retryAfter, "Seconds to wait before trying again."),
        .optional("grantedScopes", \.grantedScopes, "The scopes the person or the provider agreed to."),
        .optional("declinedScopes", \.declinedScopes, "The scopes asked for and not granted."),
        .optional(
            "accounts", \.accounts, "Whom it is about: the accounts to choose from, or the one whose token it is."),
        .optional("app", \.app, "The app the request was for."),
        .optional("caller", \.caller, "The process that asked, as the broker identified it."),
    ]
}

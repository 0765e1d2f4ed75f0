import BrokerValues

/// `error.data`: the basis of a program's decisions.
@dynamicMemberLookup
package struct ErrorData: MessageObject {
    package var kind = ErrorKind.internal
    package var retryable = false
    package var reason: ErrorReason?
    package var field: String?
    package var details = BrokerError.Details()

    package init() {}

    package init(_ kind: ErrorKind) {
        self.kind = kind
        retryable = kind.isRetryable
    }

    package init(_ error: BrokerError) {
        self.init(error.kind)
        reason = error.reason
        details = error.details
        retryable = details.isRetryable ?? retryable
    }

    package subscript<Value>(dynamicMember path: KeyPath<BrokerError.Details, Value>) -> Value {
        details[keyPath: path]
    }

    package static let componentName: String? = "ErrorData"

    package static let members: [Member<ErrorData>] = [
        .requiredOpen("kind", \.kind, "The kind of the error."),
        .required(
            "retryable", \.retryable, "Whether the same request may succeed later without any user action."),
        .optional(
            "correlationId", \.details.correlationID, "The request's correlation id: look for it in the broker's log."),
        .open("reason", \.reason, "The cause, if the kind has several."),
        .optional("field", \.field, "The param that is wrong, as account.id or scopes[1]."),
        .optional("oauthError", \.details.oauthError, "The provider's error code (RFC 6749, section 5.2)."),
        .optional("subError", \.details.subError, "The provider's second error code, if it sends one."),
        .optional("errorCodes", \.details.errorCodes, "The provider's numbers for the error (Entra's error_codes)."),
        .optional("description", \.details.description, "The provider's own words; for people, not for decisions."),
        .optional(
            "claims", \.details.claims,
            "A claims challenge of the provider: hand it to token.acquireInteractive as claims."),
        .optional("httpStatus", \.details.httpStatus, "Status of the provider's answer."),
        .optional("retryAfter", \.details.retryAfter, "Seconds to wait before trying again."),
        .optional("grantedScopes", \.details.grantedScopes, "The scopes the person or the provider agreed to."),
        .optional("declinedScopes", \.details.declinedScopes, "The requested scopes that were not granted."),
        .optional(
            "accounts", \.details.accounts,
            "The accounts concerned: the choice, or the one of the token."),
        .optional("app", \.details.app, "The app the request was for."),
        .optional("caller", \.details.caller, "The process that asked, as the broker identified it."),
        .optional(
            "grantRequest", \.details.grantRequest, "With grantRequired: the id for grants.approve and grants.deny."),
    ]
}

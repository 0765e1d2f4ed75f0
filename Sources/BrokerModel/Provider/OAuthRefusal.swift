/// An error response of the provider (RFC 6749, sections 4.1.2.1 and 5.2), with the members that Entra adds.
package struct OAuthRefusal: Sendable, Equatable {
    package var error: String
    package var subError: String?
    package var description: String?
    /// The HTTP status; `nil` if the refusal came back through the browser.
    package var status: Int?
    package var claims: String?
    package var errorCodes: [Int64]
    /// In seconds, if the provider sent it.
    package var retryAfter: Int?
    /// Whether the same request had failed a moment before, although the provider may have executed it.
    package var isOfSecondTry = false

    package init(
        error: String, subError: String? = nil, description: String? = nil, status: Int?, claims: String? = nil,
        errorCodes: [Int64] = []
    ) {
        self.error = error
        self.subError = subError
        self.description = description
        self.status = status
        self.claims = claims
        self.errorCodes = errorCodes
    }
}

extension OAuthRefusal: CustomDebugStringConvertible {
    /// For logs, as the payload of an error: the provider's text may identify the user.
    package var debugDescription: String {
        let codes = [error] + [subError].compactMap(\.self) + errorCodes.map { String($0) }
        return codes.joined(separator: " ") + (status.map { " (status \($0))" } ?? "")
    }
}

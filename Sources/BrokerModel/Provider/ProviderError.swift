import BrokerValues

/// Why a request to the provider failed. Texts contain no token and no query. One reference, as ``BrokerValues/BrokerError``.
package indirect enum ProviderError: Error, Sendable, Equatable {
    /// No response, and the request was not sent: no route, no name, refused, TLS failed. Sending again is safe.
    case offline(String)
    /// As ``offline(_:)``, by a proxy that keeps refusing until someone changes its settings.
    case refusedByProxy(String)
    /// The request may have arrived; its outcome is unknown (time-out, connection lost).
    case outcomeUnknown(String)
    /// 5xx or 429. `retryAfter` in seconds.
    case unavailable(status: Int, retryAfter: Int?, String)
    /// A response that violates the standard: HTML, no JSON, too large, a missing field, a bad signature.
    case invalidResponse(status: Int?, String)
    /// The same for a token response with a readable refresh token. The previous one may be spent, so this one must be kept.
    case unusableTokens(RejectedTokenResponse)
    /// The provider's error response (RFC 6749, section 5.2).
    case refused(OAuthRefusal)
    /// A 400 without a body for a refresh token. Real providers send it for a dead token, and gateways in front of a provider
    /// send it on any failure.
    case refusedWithoutReason(status: Int, String)
    /// The server certificate could not be verified.
    case untrusted(String)
    /// The provider's metadata names no endpoint, or no variant of it, for this.
    case notOffered(String)
}

/// The remains of an unusable token response.
package struct RejectedTokenResponse: Sendable, Equatable {
    package var refreshToken: Secret
    /// As the response names it; `nil` if the broker does not know the type.
    package var tokenType: TokenType?
    package var status: Int
    /// For people: what is wrong with the response.
    package var message: String

    package init(refreshToken: Secret, tokenType: TokenType?, status: Int, message: String) {
        self.refreshToken = refreshToken
        self.tokenType = tokenType
        self.status = status
        self.message = message
    }
}

extension ProviderError {
    /// Whether the provider may have received a grant and redeemed it, although no usable response arrived.
    package var mayHaveSpentGrant: Bool {
        switch self {
        case .outcomeUnknown: true
        // Without a status the response was too large, or not HTTP: its content is unknown.
        case .invalidResponse(let status, _): status == nil || status == 200
        // The gateway got no response from the provider, or not in time (RFC 9110, sections 15.6.3 and 15.6.5).
        case .unavailable(let status, _, _): status == 502 || status == 504
        default: false
        }
    }
}

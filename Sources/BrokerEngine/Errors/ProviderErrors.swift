import BrokerModel
import BrokerValues

/// Maps a failed exchange with the provider to an error for the caller.
enum ProviderErrors {
    /// Asks the provider of an authority and maps its failure to an error for the caller.
    static func mapping<Value>(
        at authority: Authority, _ body: () async throws(ProviderError) -> Value
    ) async throws(BrokerError) -> Value {
        do throws(ProviderError) {
            return try await body()
        } catch {
            throw brokerError(error, at: authority)
        }
    }

    /// The error for the caller after an exchange that carries no token of the broker: discovery, JWKS, the code.
    static func brokerError(_ error: ProviderError, at authority: Authority) -> BrokerError {
        brokerError(error, authorityName: authority.environment)
    }

    static func brokerError(_ error: ProviderError, authorityName place: String) -> BrokerError {
        // The provider layer's texts are already complete sentences for a person.
        switch error {
        case .offline(let what), .untrusted(let what):
            return BrokerError(.offline, what, cause: error)
        case .refusedByProxy(let what):
            return BrokerError(.offline, what, cause: error) { $0.isRetryable = false }
        case .outcomeUnknown(let what):
            return BrokerError(.serverUnavailable, what, cause: error)
        case .unavailable(let status, let retryAfter, let what):
            return BrokerError(.serverUnavailable, what, cause: error) {
                $0.httpStatus = status
                $0.retryAfter = retryAfter.map { min($0, Int(RequestThrottle.longestPause.components.seconds)) }
            }
        case .invalidResponse(let status, let what):
            return BrokerError(.invalidResponse, what, cause: error) { $0.httpStatus = status }
        case .unusableTokens(let tokens):
            return BrokerError(.invalidResponse, tokens.message, cause: error) { $0.httpStatus = tokens.status }
        case .refusedWithoutReason(let status, let what):
            return BrokerError(.serverUnavailable, what, reason: .refreshRefused, cause: error) {
                $0.httpStatus = status
            }
        case .notOffered(let what):
            return BrokerError(.unsupported, what, cause: error)
        case .refused(let refusal):
            return brokerError(refusal, at: place, cause: error)
        }
    }

    private static func brokerError(_ refusal: OAuthRefusal, at place: String, cause: ProviderError) -> BrokerError {
        let (kind, reason, message) = meaning(of: refusal.error, at: place)
        return BrokerError(kind, message, reason: reason, cause: cause) { $0.add(refusal) }
    }

    /// The error codes of RFC 6749 (sections 4.1.2.1 and 5.2), OpenID Connect Core (section 3.1.2.6) and RFC 9449
    /// (sections 5 and 8).
    private static func meaning(of code: String, at place: String) -> (ErrorKind, ErrorReason?, String) {
        switch code {
        case "access_denied":
            (.userCanceled, nil, "The sign-in was canceled or access was denied; start it again if that was not meant.")
        case "login_required", "account_selection_required":
            (.interactionRequired, .loginRequired, "\(place) wants you to sign in.")
        case "consent_required":
            (.interactionRequired, .consentRequired, "\(place) wants your consent; sign in to give it.")
        case "interaction_required", "invalid_grant":
            (.interactionRequired, .loginRequired, "\(place) wants you to sign in again.")
        case "invalid_scope":
            (.invalidScope, nil, "\(place) does not know one of the scopes, or does not give it to this client.")
        case "invalid_client":
            (.invalidClient, nil, "\(place) does not accept this client; check the client id and its secret.")
        case "unauthorized_client":
            (.unauthorizedClient, nil, "\(place) does not allow this client to do that; check its registration there.")
        case "temporarily_unavailable", "server_error":
            (.serverUnavailable, nil, "\(place) is not available at the moment; try again later.")
        case "use_dpop_nonce":
            (.serverUnavailable, nil, "\(place) wants another DPoP nonce each time; try again later.")
        case "invalid_dpop_proof":
            (.serverUnavailable, nil, "\(place) refused the proof of the key; check the clock here, and try again.")
        case "invalid_request", "unsupported_response_type", "invalid_target", "unsupported_grant_type":
            (.invalidParameter, nil, "\(place) refused the request (\(code)); check the app's registration there.")
        default:
            (.invalidResponse, nil, "\(place) answered with the error \(code.prefix(60)).")
        }
    }
}

extension BrokerError.Details {
    mutating func add(_ refusal: OAuthRefusal) {
        oauthError = refusal.error
        subError = refusal.subError
        errorCodes = refusal.errorCodes.isEmpty ? nil : refusal.errorCodes
        description = refusal.description
        claims = refusal.claims
        httpStatus = refusal.status
    }
}

extension IdentityProvider {
    /// The authority's metadata, or an error for the caller.
    func metadata(for authority: Authority) async throws(BrokerError) -> ProviderMetadata {
        try await ProviderErrors.mapping(at: authority) { () throws(ProviderError) in
            try await metadata(of: authority)
        }
    }
}

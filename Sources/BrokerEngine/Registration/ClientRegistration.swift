import BrokerModel
import BrokerValues

/// Implements `apps.registerAtProvider`: registers a client at a provider that allows it (RFC 7591).
struct ClientRegistration: Sendable {
    let provider: any IdentityProvider
    let random: any RandomSource

    /// - Parameter draft: the future app, without its client id.
    /// - Returns: the app with its client id, and its secret if it has one.
    func register(
        _ draft: AppRegistration, isConfidential: Bool, initialAccessToken: Secret?
    ) async throws(BrokerError) -> (app: AppRegistration, secretExpiresOn: NumericDate?) {
        let redirectURI = draft.redirectURI ?? ownRedirectURI()
        do throws(ProviderError) {
            let metadata = try await provider.metadata(of: draft.authority)
            let request = ClientRegistrationRequest(
                clientName: draft.name, redirectURIs: [redirectURI],
                scopes: ScopeRules.toAuthorize(Scopes(draft.scopes), extra: Scopes([]), at: metadata),
                isConfidential: isConfidential, initialAccessToken: initialAccessToken)
            let client = try await provider.register(request, at: metadata)
            var app = draft
            app.clientID = client.clientID
            app.clientSecret = client.clientSecret
            app.redirectURI = redirectURI
            app.secretMethod = client.secretMethod
            return (app, client.clientSecretExpiresOn)
        } catch {
            throw Self.failure(error, at: draft.authority)
        }
    }

    /// A redirect URI on loopback, with a path that no other client has: another provider's answer cannot arrive there, because
    /// that provider knows no client with this path (mix-up; RFC 9700, section 4.4.2.2). The kernel chooses the port, and a
    /// provider that follows RFC 8252, section 7.3, compares only the rest.
    private func ownRedirectURI() -> String { "http://127.0.0.1/" + Base64URL.encode(random.bytes(16)) }

    /// The error for a refused registration (RFC 7591, section 3.2.2; RFC 6750, section 3.1).
    private static func failure(_ error: ProviderError, at authority: Authority) -> BrokerError {
        guard case .refused(let refusal) = error else { return ProviderErrors.brokerError(error, at: authority) }
        let place = authority.environment
        let (kind, message): (ErrorKind, String)
        switch refusal.error {
        case "invalid_token", "insufficient_scope", "access_denied":
            (kind, message) = (
                .unauthorizedClient,
                "\(place) requires an initial access token for registration; ask its operator for one."
            )
        case "invalid_redirect_uri":
            (kind, message) = (
                .invalidParameter,
                "\(place) does not take this redirect URI; register one with a port, or of another form."
            )
        case "invalid_client_metadata", "invalid_software_statement", "unapproved_software_statement":
            (kind, message) = (
                .invalidParameter,
                "\(place) does not make such a client; ask for a confidential one, or register it with the provider by hand."
            )
        default: return ProviderErrors.brokerError(error, at: authority)
        }
        return BrokerError(kind, message, cause: error) { $0.add(refusal) }
    }
}

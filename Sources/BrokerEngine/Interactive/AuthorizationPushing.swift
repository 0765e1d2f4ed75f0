import BrokerModel
import BrokerValues

extension SignIn {
    /// The URL for the browser. The request is handed in beforehand (RFC 9126) where the provider demands it or the app
    /// asks for it: then the URL names nothing but the client and where the request lies.
    func authorizationURL(
        of authorization: AuthorizationRequest, at metadata: ProviderMetadata
    ) async throws(BrokerError) -> String {
        guard metadata.requiresPushedAuthorization || request.pushesAuthorization else {
            return services.provider.authorizationURL(authorization, at: metadata)
        }
        do throws(ProviderError) {
            let pushed = try await services.provider.push(
                authorization, as: request.app.credentials(at: authority), at: metadata)
            return services.provider.authorizationURL(of: pushed, as: request.app.clientID, at: metadata)
        } catch {
            throw ProviderErrors.brokerError(error, at: authority)
        }
    }
}

import BrokerModel
import BrokerValues
import Logging

extension SignIn {
    /// The URL for the browser. The request is handed in beforehand (RFC 9126) where the provider demands it or the app
    /// asks for it: then the URL names nothing but the client and where the request lies. A request with an ID token is
    /// handed in wherever that is possible: other users can read a browser's arguments, and the token says who the
    /// person is.
    func authorizationURL(
        of authorization: AuthorizationRequest, at metadata: ProviderMetadata
    ) async throws(BrokerError) -> String {
        let isDemanded = metadata.requiresPushedAuthorization || request.pushesAuthorization
        guard isDemanded || authorization.hasIDToken && metadata.pushedAuthorizationRequestEndpoint != nil else {
            return services.provider.authorizationURL(authorization, at: metadata)
        }
        do throws(ProviderError) {
            let pushed = try await services.provider.push(
                authorization, as: request.app.credentials(at: authority), at: metadata)
            return services.provider.authorizationURL(of: pushed, as: request.app.clientID, at: metadata)
        } catch {
            guard !isDemanded else { throw ProviderErrors.brokerError(error, at: authority) }
            services.log.notice(
                "the provider did not take the request beforehand; it goes into the URL, without the saved ID token",
                metadata: ["correlation_id": "\(request.correlationID)", "cause": "\(error)"])
            var plain = authorization
            plain.idTokenHint = nil
            return services.provider.authorizationURL(plain, at: metadata)
        }
    }
}

extension AuthorizationRequest {
    /// The broker's, or one that the app brought along.
    fileprivate var hasIDToken: Bool {
        idTokenHint != nil || extraQueryParameters.keys.contains { $0.lowercased() == "id_token_hint" }
    }
}

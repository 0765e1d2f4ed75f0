import BrokerModel
import BrokerValues

extension OAuthProvider {
    package func push(
        _ request: AuthorizationRequest, as client: ClientCredentials, at metadata: ProviderMetadata
    ) async throws(ProviderError) -> PushedAuthorization {
        throw .invalidResponse(status: nil, "not yet")
    }

    package func authorizationURL(
        of pushed: PushedAuthorization, as clientID: String, at metadata: ProviderMetadata
    ) -> String { "" }

    package func authorizeDevice(
        _ request: DeviceAuthorizationRequest, as client: ClientCredentials, at metadata: ProviderMetadata
    ) async throws(ProviderError) -> DeviceAuthorization {
        throw .invalidResponse(status: nil, "not yet")
    }

    package func revoke(
        _ token: Secret, _ kind: RevocableToken, as client: ClientCredentials, at metadata: ProviderMetadata
    ) async throws(ProviderError) {
        throw .invalidResponse(status: nil, "not yet")
    }

    package func endSessionURL(_ request: EndSessionRequest, at metadata: ProviderMetadata) -> String? { nil }

    package func register(
        _ request: ClientRegistrationRequest, at metadata: ProviderMetadata
    ) async throws(ProviderError) -> RegisteredClient {
        throw .invalidResponse(status: nil, "not yet")
    }
}

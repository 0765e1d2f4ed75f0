import BrokerModel
import BrokerValues

/// A provider double that offers only what its test implements: everything else is answered as by a provider without it.
package protocol PlainProvider: IdentityProvider {}

extension PlainProvider {
    package func push(
        _ request: AuthorizationRequest, as client: ClientCredentials, at metadata: ProviderMetadata
    ) async throws(ProviderError) -> PushedAuthorization { throw Self.notOffered }

    package func authorizationURL(
        of pushed: PushedAuthorization, as clientID: String, at metadata: ProviderMetadata
    ) -> String { "\(metadata.authorizationEndpoint)?request_uri=\(pushed.requestURI)" }

    package func authorizeDevice(
        _ request: DeviceAuthorizationRequest, as client: ClientCredentials, at metadata: ProviderMetadata
    ) async throws(ProviderError) -> DeviceAuthorization { throw Self.notOffered }

    package func revoke(
        _ token: Secret, _ kind: RevocableToken, as client: ClientCredentials, at metadata: ProviderMetadata
    ) async throws(ProviderError) { throw Self.notOffered }

    package func endSessionURL(_ request: EndSessionRequest, at metadata: ProviderMetadata) -> String? { nil }

    package func register(
        _ request: ClientRegistrationRequest, at metadata: ProviderMetadata
    ) async throws(ProviderError) -> RegisteredClient { throw Self.notOffered }

    private static var notOffered: ProviderError { .notOffered("The provider does not offer this.") }
}

import BrokerModel
import BrokerValues

extension TokenBroker {
    /// Registers a client at the provider (RFC 7591). The result is not registered here yet; the caller does that.
    ///
    /// - Parameter draft: the future app, without its client id.
    package func registerAtProvider(
        _ draft: AppRegistration, isConfidential: Bool, initialAccessToken: Secret?
    ) async throws(BrokerError) -> (app: AppRegistration, secretExpiresOn: NumericDate?) {
        try await ClientRegistration(services: services)
            .register(draft, isConfidential: isConfidential, initialAccessToken: initialAccessToken)
    }

    /// The provider's metadata, before an app is registered there.
    package func metadata(of authority: Authority) async throws(BrokerError) -> ProviderMetadata {
        do throws(ProviderError) {
            return try await services.provider.metadata(of: authority)
        } catch {
            throw ProviderErrors.brokerError(error, at: authority)
        }
    }
}

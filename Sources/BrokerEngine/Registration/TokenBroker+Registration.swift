import BrokerModel
import BrokerValues

extension TokenBroker {
    /// Makes a client at the provider (RFC 7591). What it returns is not known here yet; the caller registers it.
    ///
    /// - Parameter draft: what the app will be, its client id not known yet.
    package func registerAtProvider(
        _ draft: AppRegistration, isConfidential: Bool, initialAccessToken: Secret?
    ) async throws(BrokerError) -> (app: AppRegistration, secretExpiresOn: NumericDate?) {
        try await ClientRegistration(services: services)
            .register(draft, isConfidential: isConfidential, initialAccessToken: initialAccessToken)
    }

    /// What the provider says of itself, before an app is registered there.
    package func metadata(of authority: Authority) async throws(BrokerError) -> ProviderMetadata {
        do throws(ProviderError) {
            return try await services.provider.metadata(of: authority)
        } catch {
            throw ProviderErrors.brokerError(error, at: authority)
        }
    }
}

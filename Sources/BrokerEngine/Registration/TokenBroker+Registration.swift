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
}

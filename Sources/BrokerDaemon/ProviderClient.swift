import BrokerConfig
import BrokerOAuth
import BrokerSystem
import BrokerValues
import Logging

extension HTTPClient {
    /// The client that reaches the providers.
    ///
    /// - Throws: if the configured certificate authorities cannot be used.
    static func start(
        _ configuration: BrokerConfiguration, _ reach: PrivateReach, _ logger: Logger
    ) throws(StartFailure) -> HTTPClient {
        var settings = HTTPClientConfiguration(
            version: BrokerVersion.text, caFile: configuration.oauth.caFile,
            proxies: ProxySettings(environment: ProcessEnvironment.current()))
        settings.certificates = CertificateVariables(environment: ProcessEnvironment.current())
        settings.complain = { error in
            logger.error("the certificate authorities stay as they were", metadata: ["cause": "\(error)"])
        }
        settings.reachesPrivateAddresses = { reach.isGranted(to: $0) }
        settings.connectTimeout = .seconds(configuration.oauth.connectTimeout)
        settings.totalTimeout = .seconds(configuration.oauth.requestTimeout)
        return try StartFailure.orThrow(.configuration) { () throws(HTTPClientError) in
            try HTTPClient(configuration: settings)
        }
    }
}

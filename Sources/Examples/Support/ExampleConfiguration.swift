import BrokerClient

extension ExampleOptions {
    /// The app as its registration, or as its client id and issuer, make it known.
    package var configuration: PublicClientApplicationConfig {
        var configuration =
            if let app {
                PublicClientApplicationConfig(app: app)
            } else {
                PublicClientApplicationConfig(clientId: clientID ?? "", authority: authority ?? "")
            }
        configuration.socketPath = socket
        return configuration
    }
}

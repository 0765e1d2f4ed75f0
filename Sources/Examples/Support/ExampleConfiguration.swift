import BrokerClient

extension ExampleOptions {
    /// The app by its registration, or by its client id and issuer.
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

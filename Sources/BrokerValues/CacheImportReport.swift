/// What became of an imported cache: how many of each were taken.
package struct CacheImportReport: Sendable, Equatable {
    package var accounts = 0
    package var refreshTokens = 0
    package var familyRefreshTokens = 0
    package var accessTokens = 0
    package var idTokens = 0
    package var appMetadata = 0
    /// Left out because the broker has as good ones.
    package var older = 0
    package var expired = 0
    package var problems: [String] = []
    package var unregistered: [UnregisteredClient] = []

    package init() {}
}

/// A client with refresh tokens that no app is registered for.
package struct UnregisteredClient: Sendable, Equatable {
    package var clientID: String
    package var environment: String
    /// A guess, for the registration.
    package var authority: String

    package init(clientID: String, environment: String, authority: String) {
        self.clientID = clientID
        self.environment = environment
        self.authority = authority
    }
}

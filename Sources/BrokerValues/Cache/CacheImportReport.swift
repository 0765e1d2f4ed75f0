/// The result of importing a cache: how many items of each kind were imported.
package struct CacheImportReport: Sendable, Equatable {
    package var accounts = 0
    package var refreshTokens = 0
    package var familyRefreshTokens = 0
    package var accessTokens = 0
    package var idTokens = 0
    package var appMetadata = 0
    /// The tokens that were skipped because the broker has equal or newer ones.
    package var older = 0
    package var expired = 0
    package var problems: [String] = []
    package var unregistered: [UnregisteredClient] = []

    package init() {}
}

/// A client with refresh tokens but without a registered app.
package struct UnregisteredClient: Sendable, Equatable {
    package var clientID: String
    package var environment: String
    /// A proposal for the registration, made from the environment and the tenant.
    package var authority: String

    package init(clientID: String, environment: String, authority: String) {
        self.clientID = clientID
        self.environment = environment
        self.authority = authority
    }
}

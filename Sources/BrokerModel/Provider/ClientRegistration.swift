import BrokerValues

/// The broker's request for a new client (RFC 7591, section 2).
package struct ClientRegistrationRequest: Sendable {
    package var clientName: String
    package var redirectURIs: [String]
    package var scopes: Scopes
    /// `false` asks for a public client.
    package var isConfidential: Bool
    /// RFC 7591, section 3: some providers require it for registration.
    package var initialAccessToken: Secret?

    package init(
        clientName: String, redirectURIs: [String], scopes: Scopes, isConfidential: Bool,
        initialAccessToken: Secret? = nil
    ) {
        self.clientName = clientName
        self.redirectURIs = redirectURIs
        self.scopes = scopes
        self.isConfidential = isConfidential
        self.initialAccessToken = initialAccessToken
    }
}

/// The new client (RFC 7591, section 3.2.1).
package struct RegisteredClient: Sendable {
    package var clientID: String
    package var clientSecret: Secret?
    /// The client's registered method; `nil` if the provider does not say.
    package var secretMethod: ClientSecretMethod?
    /// Seconds since 1970; `nil` if the secret does not expire.
    package var clientSecretExpiresOn: NumericDate?

    package init(clientID: String, clientSecret: Secret? = nil, clientSecretExpiresOn: NumericDate? = nil) {
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.clientSecretExpiresOn = clientSecretExpiresOn
    }
}

import BrokerValues

/// The client of a request, and its secret if it is confidential (RFC 6749, section 2.3).
package struct ClientCredentials: Sendable {
    package var clientID: String
    package var secret: Secret?
    /// `nil` uses the provider's metadata.
    package var method: ClientSecretMethod?

    package init(clientID: String, secret: Secret? = nil, method: ClientSecretMethod? = nil) {
        self.clientID = clientID
        self.secret = secret
        self.method = method
    }
}

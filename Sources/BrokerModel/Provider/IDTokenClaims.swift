import BrokerValues

/// The facts that an ID token is checked against.
package struct IDTokenExpectation: Sendable {
    package var clientID: ExactText
    /// `nil` on refresh, where a provider may leave the nonce out (OpenID Connect Core, section 12.2).
    package var nonce: ExactText?
    /// Whether the user has just signed in; false on refresh. Keys that cannot be fetched again are not accepted for a sign-in.
    package var isSignIn = true
    /// On refresh, the nonce of the sign-in that the refresh token comes from: an ID token may repeat it, but not bring
    /// another one (OpenID Connect Core, section 12.2). `nil` if it is unknown.
    package var earlierNonce: ExactText?
    /// The access token of the same response; `at_hash`, if present, must be its hash (OpenID Connect Core, section 3.1.3.8).
    /// `nil` on refresh, where a provider may return an earlier access token.
    package var accessToken: Secret?
    /// For a confidential client: some providers sign with it (OpenID Connect Core, section 10.1).
    package var clientSecret: Secret?

    package init(clientID: String, nonce: String?) {
        self.clientID = ExactText(clientID)
        self.nonce = nonce.map { ExactText($0) }
    }
}

/// The claims of a verified ID token.
package struct IDTokenClaims: Sendable, Equatable {
    package var issuer: ExactText
    package var subject: ExactText
    package var all: JSONObject

    package init(issuer: ExactText, subject: ExactText, all: JSONObject) {
        self.issuer = issuer
        self.subject = subject
        self.all = all
    }

    package subscript(name: String) -> String? { all[name]?.stringValue }
}

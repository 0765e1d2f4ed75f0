import BrokerValues

/// A sign-in in the browser (RFC 6749, section 4.1.1; OpenID Connect Core, section 3.1.2.1).
package struct AuthorizationRequest: Sendable {
    package var clientID: String
    package var redirectURI: String
    /// Includes the reserved scopes.
    package var scopes: Scopes
    package var state: String
    package var nonce: String
    /// RFC 7636, S256.
    package var codeChallenge: String
    package var correlationID: String
    package var prompt: Prompt?
    /// Asks for consent in addition to the prompt.
    package var asksConsent = false
    package var loginHint: String?
    /// The expected user, if the provider must not prompt: an ID token of theirs (OpenID Connect Core, section 3.1.2.1).
    package var idTokenHint: Secret?
    package var domainHint: String?
    package var claims: String?
    /// The maximum age of the user's last authentication, in seconds (OpenID Connect Core, section 3.1.2.1).
    package var maxAge: Int64?
    package var acrValues: [String] = []
    /// The resources of the token (RFC 8707, section 2).
    package var resources: [String] = []
    /// Thumbprint of the key that will redeem the code (RFC 9449, section 10).
    package var proofKeyThumbprint: String?
    /// Entra: asks for `client_info`.
    package var asksClientInfo = false
    /// Entra: the user may belong to another cloud (`instance_aware`).
    package var isInstanceAware = false
    /// The browser delivers the response as a form instead of a query.
    package var asksForForm = false
    package var extraQueryParameters: [String: String] = [:]
    /// From the app's registration: the request's own values take precedence.
    package var registeredParameters: [String: String] = [:]

    package init(
        clientID: String, redirectURI: String, scopes: Scopes, state: String, nonce: String, codeChallenge: String,
        correlationID: String
    ) {
        self.clientID = clientID
        self.redirectURI = redirectURI
        self.scopes = scopes
        self.state = state
        self.nonce = nonce
        self.codeChallenge = codeChallenge
        self.correlationID = correlationID
    }
}

extension AuthorizationRequest {
    /// The parameter `prompt` (OpenID Connect Core, section 3.1.2.1).
    package var prompts: String? {
        let all = [prompt, asksConsent && prompt != .consent ? .consent : nil].compactMap { $0?.rawValue }
        return all.isEmpty ? nil : all.joined(separator: " ")
    }
}

/// The response to a pushed authorization request (RFC 9126, section 2.2).
package struct PushedAuthorization: Sendable, Equatable {
    package var requestURI: String
    /// Seconds.
    package var expiresIn: Int64

    package init(requestURI: String, expiresIn: Int64) {
        self.requestURI = requestURI
        self.expiresIn = expiresIn
    }
}

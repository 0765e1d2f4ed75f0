import BrokerValues

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

/// RFC 8628, section 3.1.
package struct DeviceAuthorizationRequest: Sendable {
    /// Includes the reserved scopes.
    package var scopes: Scopes
    package var claims: String?
    package var resources: [String] = []
    /// From the app: its registration's, and the request's own.
    package var parameters: [String: String]
    /// As ``TokenRequestExtras/correlationID``.
    package var correlationID: String?

    package init(
        scopes: Scopes, claims: String? = nil, resources: [String] = [], parameters: [String: String] = [:],
        correlationID: String? = nil
    ) {
        self.parameters = parameters
        self.correlationID = correlationID
        self.scopes = scopes
        self.claims = claims
        self.resources = resources
    }
}

/// RFC 8628, section 3.2.
package struct DeviceAuthorization: Sendable {
    package var deviceCode: Secret
    /// The code that the user types.
    package var userCode: String
    /// The page where they type it.
    package var verificationURI: String
    package var verificationURIComplete: String?
    /// Seconds.
    package var expiresIn: Int64
    /// Seconds between two attempts at the token endpoint.
    package var interval: Int64
    /// Entra's own message for the user.
    package var message: String?

    package init(
        deviceCode: Secret, userCode: String, verificationURI: String, verificationURIComplete: String? = nil,
        expiresIn: Int64, interval: Int64 = 5, message: String? = nil
    ) {
        self.deviceCode = deviceCode
        self.userCode = userCode
        self.verificationURI = verificationURI
        self.verificationURIComplete = verificationURIComplete
        self.expiresIn = expiresIn
        self.interval = interval
        self.message = message
    }
}

/// The provider's claims about the user of a token (OpenID Connect Core, section 5.3.2).
package struct UserInfo: Sendable, Equatable {
    package var subject: ExactText
    package var claims: JSONObject

    package init(subject: ExactText, claims: JSONObject) {
        self.subject = subject
        self.claims = claims
    }
}

/// RFC 7009, section 2.1: `token_type_hint`.
package enum RevocableToken: String, Sendable {
    case refreshToken = "refresh_token"
    case accessToken = "access_token"
}

/// OpenID Connect RP-Initiated Logout 1.0, section 2.
package struct EndSessionRequest: Sendable {
    package var clientID: String
    package var idTokenHint: Secret?
    package var logoutHint: String?
    package var postLogoutRedirectURI: String?
    package var state: String?
    /// From the app; none is the broker's own.
    package var parameters: [String: String] = [:]

    package init(clientID: String) { self.clientID = clientID }
}

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

/// RFC 7591, section 3.2.1.
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

/// Asks for a code with which the user signs in on another device (RFC 8628, section 3.1).
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

/// The code, and the page to type it at (RFC 8628, section 3.2).
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

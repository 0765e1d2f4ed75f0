/// A sign-out in the browser (OpenID Connect RP-Initiated Logout 1.0, section 2).
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

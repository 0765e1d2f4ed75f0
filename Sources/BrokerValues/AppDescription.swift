/// What whoever registers an app says of it; its authority and its secret stand beside. The names are those on disk.
package struct AppDescription: Codable, Sendable, Hashable {
    package var name: String
    package var clientID: String
    /// Apps of one group share accounts and refresh tokens.
    package var group: String?
    package var scopes: [String]
    /// What its tokens may be good for at most; nil for anything (decision 70).
    package var allowedScopes: [String]?
    package var redirectURI: String?
    package var executables: [String]
    package var units: [String]
    package var sandboxIDs: [String]
    /// Goes along with every sign-in, where the request itself does not say otherwise.
    package var query: [String: String]?
    /// Where its tokens are good, for requests that name no resource (RFC 8707).
    package var resources: [String]?
    /// What mail servers call the account, where that is not its username (XOAUTH2).
    package var mailbox: String?
    /// Whether a key is proven at the token endpoint although the app asks for bearer tokens, so that the refresh token is bound
    /// to it; nil where the provider is known to take that (decision 165).
    package var bindRefreshToken: Bool?
    /// Whether sign-ins ask for `offline_access`; nil leaves it to the provider (decision 122).
    package var offlineAccess: Bool?

    package init(
        name: String = "", clientID: String = "", group: String? = nil, scopes: [String] = [],
        allowedScopes: [String]? = nil,
        redirectURI: String? = nil, executables: [String] = [], units: [String] = [], sandboxIDs: [String] = []
    ) {
        self.name = name
        self.clientID = clientID
        self.group = group
        self.scopes = scopes
        self.allowedScopes = allowedScopes
        self.redirectURI = redirectURI
        self.executables = executables
        self.units = units
        self.sandboxIDs = sandboxIDs
    }
}

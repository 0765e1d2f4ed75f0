/// An app's registration, without its authority and its secret. The names are those on disk.
package struct AppDescription: Codable, Sendable, Hashable {
    package var name: String
    package var clientID: String
    /// Apps of one group share accounts and refresh tokens.
    package var group: String?
    package var scopes: [String]
    /// The largest scope set of its tokens; `nil` for no limit (decision 23).
    package var allowedScopes: [String]?
    package var redirectURI: String?
    package var executables: [String]
    package var units: [String]
    package var sandboxIDs: [String]
    /// Parameters added to every sign-in, unless the request itself sets a value.
    package var query: [String: String]?
    /// The resources of its tokens, for requests that name none (RFC 8707).
    package var resources: [String]?
    /// The account's name at mail servers, if that is not its username (XOAUTH2).
    package var mailbox: String?
    /// Whether a key is proven at the token endpoint although the app asks for bearer tokens, so that the refresh token is bound
    /// to it; `nil` if that depends on the provider (decision 14).
    package var bindRefreshToken: Bool?
    /// Whether sign-ins ask for `offline_access`; `nil` leaves it to the provider (decision 17).
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

/// A person who typed a password in this browser.
struct SignedInAccount: Sendable, Equatable {
    var username: String
    /// Seconds since 1970; `auth_time` of the ID token.
    var authenticatedAt: Int
}

/// One browser, identified by its cookie, and the accounts signed in there.
struct BrowserSession: Sendable {
    /// The cookie's value. It changes when a password is typed, so a planted cookie has no effect.
    var cookie: String
    /// `sid` of the ID tokens; constant.
    let id: String
    var accounts: [SignedInAccount] = []

    mutating func signIn(_ username: String, at time: Int) {
        accounts.removeAll { $0.username == username }
        accounts.append(SignedInAccount(username: username, authenticatedAt: time))
    }
}

/// An authorization request that waits for the person.
struct Transaction: Sendable {
    let id: String
    let sessionID: String
    let request: AuthorizationRequest
    /// Picked in the account chooser, or by signing in.
    var chosen: String?
    var typedPassword = false
    var consentedScopes: [String]?
    let expiresAt: Int

    static let lifetime = 900
}

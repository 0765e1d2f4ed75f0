/// A user's permission for a caller to use an app, or a part of the app's access.
package struct Grant: Codable, Sendable, Hashable {
    package var id: String
    package var caller: CallerIdentity
    /// The app's name, or an ad hoc client's identity.
    package var app: String
    /// The only account; `nil` for every account of the app's group.
    package var accountID: String?
    /// The scopes; `nil` for every scope.
    package var scopes: [String]?
    package var createdOn: NumericDate
    /// When the grant expires; `nil` for never.
    package var expiresOn: NumericDate?
    package var lastUsedOn: NumericDate?
    package var uses: Int64 = 0
    /// The facts on which the caller was judged when it asked; `nil` if it was named in advance.
    package var facts: CallerFacts?

    package init(
        id: String, caller: CallerIdentity, app: String, accountID: String? = nil, scopes: [String]? = nil,
        createdOn: NumericDate, expiresOn: NumericDate? = nil, facts: CallerFacts? = nil
    ) {
        self.id = id
        self.caller = caller
        self.app = app
        self.accountID = accountID
        self.scopes = scopes
        self.createdOn = createdOn
        self.expiresOn = expiresOn
        self.facts = facts
    }
}

/// A caller's request that has not been answered yet.
package struct GrantRequest: Sendable, Hashable {
    package var id: String
    package var caller: CallerIdentity
    /// The same as ``Grant/app``.
    package var app: String
    /// The client id, for a client without a registration.
    package var clientID: String?
    /// The URL of the app's or client's authority; `nil` from an earlier broker.
    package var authority: String?
    package var accountID: String?
    package var scopes: [String]?
    package var requestedOn: NumericDate
    package var facts: CallerFacts

    package init(
        id: String, caller: CallerIdentity, app: String, clientID: String? = nil, authority: String? = nil,
        accountID: String? = nil, scopes: [String]? = nil, requestedOn: NumericDate, facts: CallerFacts = [:]
    ) {
        self.id = id
        self.caller = caller
        self.app = app
        self.clientID = clientID
        self.authority = authority
        self.accountID = accountID
        self.scopes = scopes
        self.requestedOn = requestedOn
        self.facts = facts
    }
}

/// The outcome of a request or of a grant.
package enum GrantChange: String, Codable, Sendable, CaseIterable {
    case requested
    case approved
    case denied
    case revoked
    /// The request was not answered in time.
    case expired
}

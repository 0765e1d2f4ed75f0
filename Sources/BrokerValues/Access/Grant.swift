/// What a person allowed a caller: to use an app, or a part of what the app may.
package struct Grant: Codable, Sendable, Hashable {
    package var id: String
    package var caller: CallerIdentity
    /// The app's name, or an ad hoc client's identity.
    package var app: String
    /// Nil: every account of the app's group.
    package var accountID: String?
    /// Nil: every scope.
    package var scopes: [String]?
    package var createdOn: NumericDate
    /// Nil: no end.
    package var expiresOn: NumericDate?
    package var lastUsedOn: NumericDate?
    package var uses: Int64 = 0
    /// What the caller was judged by when it asked; nil where it was named in advance.
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

/// What a caller asked for and nobody has answered yet.
package struct GrantRequest: Sendable, Hashable {
    package var id: String
    package var caller: CallerIdentity
    /// As ``Grant/app``.
    package var app: String
    /// Of a client without a registration.
    package var clientID: String?
    /// URL of the app's or client's authority; nil where an earlier broker did not say.
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

/// What became of a request or of a grant.
package enum GrantChange: String, Codable, Sendable, CaseIterable {
    case requested
    case approved
    case denied
    case revoked
    /// Nobody answered the request in time.
    case expired
}

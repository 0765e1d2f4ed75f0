import BrokerModel
import BrokerValues

/// A request's demands on its owner's cached tokens.
package struct CacheQuestion: Sendable {
    package var scopes: Scopes
    package var realm: String
    package var tokenType: TokenType
    /// The resources that the token must be for, sorted and unique (RFC 8707).
    package var resources: [String]
    /// The token that ``rule`` applies to.
    package var lifetimeOf: MeasuredToken
    package var rule: ExpiryRule
    /// Whether the cached access token is no answer, because of `forceRefresh` or a claims request.
    package var bypassesCache: Bool
    /// The scopes that the token may have at most; `nil` for no limit.
    package var ceiling: Scopes?

    package init(
        scopes: Scopes, realm: String, tokenType: TokenType = .bearer, resources: [String] = [],
        lifetimeOf: MeasuredToken = .accessToken, rule: ExpiryRule, bypassesCache: Bool = false,
        ceiling: Scopes? = nil
    ) {
        self.scopes = scopes
        self.realm = realm
        self.tokenType = tokenType
        self.resources = Self.sorted(resources: resources)
        self.lifetimeOf = lifetimeOf
        self.rule = rule
        self.bypassesCache = bypassesCache
        self.ceiling = ceiling
    }

    /// Resources as they are kept and compared: sorted and unique, every character as given.
    package static func sorted(resources: [String]) -> [String] {
        resources.count < 2 ? resources : Set(resources).sorted()
    }
}

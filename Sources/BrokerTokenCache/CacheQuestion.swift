import BrokerModel
import BrokerValues

/// A request's demands on its owner's cached tokens.
package struct CacheQuestion: Sendable {
    package var scopes: Scopes
    package var realm: String
    package var tokenType: TokenType
    /// Sorted.
    package var resources: [String]
    /// The token that ``rule`` applies to.
    package var lifetimeOf: MeasuredToken
    package var rule: ExpiryRule
    /// `forceRefresh`, or a claims request: the cached access token does not answer it.
    package var bypassesCache: Bool
    /// A token with more scopes is no answer.
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

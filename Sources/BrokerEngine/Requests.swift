import BrokerModel
import BrokerTokenCache
import BrokerValues

/// A token request after the access check; the part that is common to all ways to get a token.
@dynamicMemberLookup
package protocol TokenRequest: Sendable {
    var partition: Partition { get }
    var app: AppRegistration { get }
    /// Another authority than the app's own, for this request.
    var authority: Authority? { get }
    var query: TokenQuery { get }
    /// The query's scopes, or the app's usual ones if it names none and is not narrow.
    var scopes: Scopes { get }
    /// Whether the person may be at home in another cloud than the authority's own (Entra; ``CloudRules``).
    var isInstanceAware: Bool { get }
    var correlationID: String { get }
}

extension TokenRequest {
    package subscript<Value>(dynamicMember path: KeyPath<TokenQuery, Value>) -> Value { query[keyPath: path] }

    var target: Authority { authority ?? app.authority }

    /// The parameters of every token request that is made to the provider for it.
    var extras: TokenRequestExtras {
        var extras = TokenRequestExtras()
        extras.claims = ClaimsRule.merged(query.claims, capabilities: query.clientCapabilities)
        extras.resources = query.resources
        extras.asksClientInfo = target.rules.asksClientInfo
        extras.correlationID = correlationID
        return extras
    }
}

/// A ``TokenRequest`` that is built step by step.
package protocol DraftedTokenRequest: TokenRequest {
    var query: TokenQuery { get set }
}

extension DraftedTokenRequest {
    package subscript<Value>(dynamicMember path: WritableKeyPath<TokenQuery, Value>) -> Value {
        get { query[keyPath: path] }
        set { query[keyPath: path] = newValue }
    }
}

extension TokenQuery {
    fileprivate func scopes(for app: AppRegistration) -> Scopes {
        let own = scopes.isEmpty && !isNarrow ? app.usualScopes : Scopes(scopes)
        guard let challenge, !challenge.scopes.isEmpty else { return own }
        // A challenge may name scopes that the broker adds by itself, and a client that forwards it cannot remove them.
        return own.union(Scopes(challenge.scopes).subtracting(Scopes.reserved))
    }

    /// The query with the challenge's requirements, and with the app's usual resources if it names none.
    fileprivate func completed(by app: AppRegistration) -> TokenQuery {
        let usual = resources.isEmpty ? app.description.resources : nil
        guard challenge != nil || usual != nil else { return self }
        var query = self
        if let usual {
            // Never one that the app is not registered for: the challenge comes from the server that refused the token.
            query.resources = challenge.flatMap { from in usual.first(where: from.isFrom) }.map { [$0] } ?? usual
        }
        if let challenge { query.claims = ClaimsText.merged(claims, challenge.claims) }
        query.challenge = nil
        return query
    }
}

/// A request of `token.acquireSilent`. It is an immutable object, as it is passed on and kept in several places (decision 5).
package final class SilentRequest: TokenRequest {
    package let partition: Partition
    package let app: AppRegistration
    package let authority: Authority?
    package let query: TokenQuery
    package let scopes: Scopes
    package let isInstanceAware: Bool
    package let forceRefresh: Bool
    /// A token that a resource server refused: the answer should be another one, if there can be one.
    package let rejectedToken: Secret?
    /// The challenge's requirements that only a sign-in can meet (RFC 9470).
    let stepUp: StepUp?
    /// The maximum scopes of the token, if the caller may not have all of the app's.
    package let ceiling: Scopes?
    package let correlationID: String

    package init(
        partition: Partition, app: AppRegistration, authority: Authority? = nil, query: TokenQuery,
        isInstanceAware: Bool = false, forceRefresh: Bool = false, rejectedToken: Secret? = nil,
        ceiling: Scopes? = nil, correlationID: String
    ) {
        self.partition = partition
        self.app = app
        self.authority = authority
        scopes = query.scopes(for: app)
        self.query = query.completed(by: app)
        stepUp = query.challenge?.stepUp
        self.isInstanceAware = isInstanceAware
        self.forceRefresh = forceRefresh
        self.rejectedToken = rejectedToken
        self.ceiling = ceiling
        self.correlationID = correlationID
    }

    /// The same request for all of a token's scopes, not for the part that this caller wants.
    init(_ request: SilentRequest, forAllOf token: AccessTokenRecord) {
        partition = request.partition
        app = request.app
        authority = request.authority
        var query = request.query
        query.lifetimeOf = .accessToken
        self.query = query
        scopes = ScopeRules.toRenew(token)
        isInstanceAware = request.isInstanceAware
        forceRefresh = request.forceRefresh
        rejectedToken = request.rejectedToken
        stepUp = nil
        ceiling = request.ceiling
        correlationID = request.correlationID
    }
}

/// A request of `token.acquireInteractive`.
@dynamicMemberLookup
package struct InteractiveRequest: DraftedTokenRequest {
    package var partition: Partition
    package var app: AppRegistration
    package var authority: Authority?
    package var query: TokenQuery
    package var scopes: Scopes
    package var isInstanceAware = false
    package var interaction: InteractiveQuery
    package var extraScopesToConsent: Scopes
    /// The caller, for the limit of waiting interactions.
    package var claimant = QuotaOwner.unidentified
    /// Whether the caller is outside of every sandbox.
    package var isOutside = false
    /// The user on another machine, named to the person whose browser opens here.
    package var elsewhere: String?
    package var correlationID: String

    package init(
        partition: Partition, app: AppRegistration, query: TokenQuery, interaction: InteractiveQuery,
        correlationID: String
    ) {
        self.partition = partition
        self.app = app
        self.query = query.completed(by: app)
        scopes = query.scopes(for: app)
        self.interaction = interaction.raised(to: query.challenge?.stepUp)
        extraScopesToConsent = Scopes(interaction.extraScopesToConsent)
        self.correlationID = correlationID
    }

    package subscript<Value>(dynamicMember path: WritableKeyPath<InteractiveQuery, Value>) -> Value {
        get { interaction[keyPath: path] }
        set { interaction[keyPath: path] = newValue }
    }
}

/// A request of `token.acquireByDeviceCode`.
package struct DeviceCodeRequest: DraftedTokenRequest {
    package var partition: Partition
    package var app: AppRegistration
    package var authority: Authority?
    package var query: TokenQuery
    package var scopes: Scopes
    /// Always false: the broker does not learn at which cloud the other device signs in.
    package var isInstanceAware: Bool { false }
    /// The longest wait in seconds; the code's own expiry ends the wait, too.
    package var timeout: Int64?
    package var claimant = QuotaOwner.unidentified
    /// ``InteractiveRequest/isOutside``.
    package var isOutside = false
    package var correlationID: String

    package init(partition: Partition, app: AppRegistration, query: TokenQuery, correlationID: String) {
        self.partition = partition
        self.app = app
        self.query = query.completed(by: app)
        scopes = query.scopes(for: app)
        self.correlationID = correlationID
    }
}

/// A token for a request, its secret still sealed: the code that writes the answer decrypts it (`RecordVault.withSecret`).
package struct AcquiredToken: Sendable {
    package var token: StoredRecord<AccessTokenRecord>
    package var idToken: SealedRecord?
    /// When the ID token expires; `nil` if unknown.
    package var idTokenEnd: NumericDate?
    /// Which of the two tokens was requested.
    package var lifetimeOf = MeasuredToken.accessToken
    /// The token's owner, as the group knows them.
    package var person: KnownAccount
    package var fromCache: Bool
    package var extendedLifetime = false
    /// False if the disk has not taken it yet: the token is good, and the broker goes on trying.
    package var persisted = true
    /// Whether it is the token that the caller's resource server refused, because no other one is available at the moment.
    package var rejected = false
    /// False if the sign-in brought no refresh token, and there is none of an earlier one.
    package var renewable = true

    package var account: Account { person.account }

    package init(
        token: StoredRecord<AccessTokenRecord>, idToken: SealedRecord?, person: KnownAccount, fromCache: Bool,
        persisted: Bool = true
    ) {
        self.token = token
        self.idToken = idToken
        self.person = person
        self.fromCache = fromCache
        self.persisted = persisted
    }
}

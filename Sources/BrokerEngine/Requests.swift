import BrokerModel
import BrokerValues

/// A request for a token, after access said yes; what of it is the same whichever way the token is got.
@dynamicMemberLookup
package protocol TokenRequest: Sendable {
    var partition: Partition { get }
    var app: AppRegistration { get }
    /// Another authority than the app's own, for this request.
    var authority: Authority? { get }
    var query: TokenQuery { get set }
    /// The query's scopes, or the app's usual ones where it names none.
    var scopes: Scopes { get }
    /// Entra: the person may be at home in another cloud than the authority's own (``CloudRules``).
    var isInstanceAware: Bool { get }
    var correlationID: String { get }
}

extension TokenRequest {
    package subscript<Value>(dynamicMember path: WritableKeyPath<TokenQuery, Value>) -> Value {
        get { query[keyPath: path] }
        set { query[keyPath: path] = newValue }
    }

    var target: Authority { authority ?? app.authority }

    /// What goes along with every grant that the request redeems.
    var extras: TokenRequestExtras {
        var extras = TokenRequestExtras()
        extras.claims = ClaimsRule.merged(query.claims, capabilities: query.clientCapabilities)
        extras.resources = query.resources
        extras.asksClientInfo = target.rules.asksClientInfo
        return extras
    }
}

extension TokenQuery {
    fileprivate func scopes(for app: AppRegistration) -> Scopes { scopes.isEmpty ? app.usualScopes : Scopes(scopes) }
}

/// `token.acquireSilent`.
package struct SilentRequest: TokenRequest {
    package var partition: Partition
    package var app: AppRegistration
    package var authority: Authority?
    package var query: TokenQuery
    package var scopes: Scopes
    package var isInstanceAware = false
    package var forceRefresh = false
    /// What a resource server refused: only another token answers, as far as one can be had.
    package var rejectedToken: Secret?
    /// What the token may be good for at most, where the caller may not have all that the app has.
    package var ceiling: Scopes?
    package var correlationID: String

    package init(partition: Partition, app: AppRegistration, query: TokenQuery, correlationID: String) {
        self.partition = partition
        self.app = app
        self.query = query
        scopes = query.scopes(for: app)
        self.correlationID = correlationID
    }
}

/// `token.acquireInteractive`.
@dynamicMemberLookup
package struct InteractiveRequest: TokenRequest {
    package var partition: Partition
    package var app: AppRegistration
    package var authority: Authority?
    package var query: TokenQuery
    package var scopes: Scopes
    package var isInstanceAware = false
    package var interaction: InteractiveQuery
    package var extraScopesToConsent: Scopes
    /// Who asks, for the limit on what waits for a person.
    package var claimant = Claimant.unidentified
    package var correlationID: String

    package init(
        partition: Partition, app: AppRegistration, query: TokenQuery, interaction: InteractiveQuery,
        correlationID: String
    ) {
        self.partition = partition
        self.app = app
        self.query = query
        scopes = query.scopes(for: app)
        self.interaction = interaction
        extraScopesToConsent = Scopes(interaction.extraScopesToConsent)
        self.correlationID = correlationID
    }

    package subscript<Value>(dynamicMember path: WritableKeyPath<InteractiveQuery, Value>) -> Value {
        get { interaction[keyPath: path] }
        set { interaction[keyPath: path] = newValue }
    }
}

/// `token.acquireByDeviceCode`.
package struct DeviceCodeRequest: TokenRequest {
    package var partition: Partition
    package var app: AppRegistration
    package var authority: Authority?
    package var query: TokenQuery
    package var scopes: Scopes
    /// Which cloud another device ends up at stays unknown.
    package var isInstanceAware: Bool { false }
    /// Seconds; the code's own expiry ends the wait, too.
    package var timeout: Int64?
    package var claimant = Claimant.unidentified
    package var correlationID: String

    package init(partition: Partition, app: AppRegistration, query: TokenQuery, correlationID: String) {
        self.partition = partition
        self.app = app
        self.query = query
        scopes = query.scopes(for: app)
        self.correlationID = correlationID
    }
}

/// A token that was got, its secret still sealed: whoever writes the answer opens it (`RecordVault.withSecret`).
package struct AcquiredToken: Sendable {
    package var token: StoredRecord<AccessTokenRecord>
    package var idToken: SealedRecord?
    /// Whose it is, as the group knows them.
    package var person: KnownAccounts.Entry
    package var fromCache: Bool
    package var extendedLifetime = false
    /// False when the disk did not take it yet: the token is good, and the broker goes on trying.
    package var persisted = true
    /// It is the very token that the caller's resource server refused: another one is not to be had at this moment.
    package var rejected = false

    package var account: Account { person.account }

    package init(
        token: StoredRecord<AccessTokenRecord>, idToken: SealedRecord?, person: KnownAccounts.Entry, fromCache: Bool,
        extendedLifetime: Bool = false, persisted: Bool = true
    ) {
        self.token = token
        self.idToken = idToken
        self.person = person
        self.fromCache = fromCache
        self.extendedLifetime = extendedLifetime
        self.persisted = persisted
    }
}

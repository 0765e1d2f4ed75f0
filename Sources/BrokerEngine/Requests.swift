import BrokerModel
import BrokerValues

/// The account a caller means; apps name it by id or by username.
package enum AccountSelector: Sendable, Hashable {
    case id(String)
    /// Compared without case.
    case username(String)
}

/// A request for a token of an app, at the app's own authority or at another one for this request.
package protocol TokenSeeking: Sendable {
    var app: AppRegistration { get }
    /// Another authority than the app's own, for this request.
    var authority: Authority? { get }
    /// Entra: the person may be at home in another cloud than the authority's own (``CloudRules``).
    var isInstanceAware: Bool { get }
    var claims: String? { get }
    /// Where the token shall be good (RFC 8707).
    var resources: [String] { get }
    /// What the app can deal with, such as `cp1` (claims challenges); goes into the claims request.
    var clientCapabilities: [String] { get }
}

extension TokenSeeking {
    var target: Authority { authority ?? app.authority }

    /// What goes along with every grant that the request redeems.
    var extras: TokenRequestExtras {
        var extras = TokenRequestExtras()
        extras.claims = ClaimsRule.merged(claims, capabilities: clientCapabilities)
        extras.resources = resources
        extras.asksClientInfo = target.rules.asksClientInfo
        return extras
    }
}

/// `token.acquireSilent`, after access said yes.
package struct SilentRequest: TokenSeeking {
    package var partition: Partition
    package var app: AppRegistration
    package var scopes: Scopes
    package var account: AccountSelector?
    /// Another authority than the app's own, for this request.
    package var authority: Authority?
    package var isInstanceAware = false
    /// A claims request (OpenID Connect Core, section 5.5) or challenge: bypasses the cached access token.
    package var claims: String?
    package var forceRefresh = false
    /// Seconds the token must still be good for.
    package var minimumLifetime: Int64?
    package var tokenType = TokenType.bearer
    /// Where the token shall be good (RFC 8707).
    package var resources: [String] = []
    /// What the app can deal with, such as `cp1` (claims challenges); goes into the claims request.
    package var clientCapabilities: [String] = []
    package var correlationID: String

    /// - Parameter scopes: none means the app's usual ones.
    package init(partition: Partition, app: AppRegistration, scopes: Scopes, correlationID: String) {
        self.partition = partition
        self.app = app
        self.scopes = scopes.isEmpty ? app.usualScopes : scopes
        self.correlationID = correlationID
    }
}

/// `token.acquireInteractive`, after access said yes.
package struct InteractiveRequest: TokenSeeking {
    package var partition: Partition
    package var app: AppRegistration
    package var scopes: Scopes
    package var account: AccountSelector?
    package var authority: Authority?
    package var isInstanceAware = false
    package var claims: String?
    package var minimumLifetime: Int64?
    package var tokenType = TokenType.bearer
    /// Where the token shall be good (RFC 8707).
    package var resources: [String] = []
    /// What the app can deal with, such as `cp1` (claims challenges); goes into the claims request.
    package var clientCapabilities: [String] = []
    package var loginHint: String?
    package var domainHint: String?
    package var prompt: Prompt?
    package var extraScopesToConsent = Scopes([])
    package var extraQueryParameters: [String: String] = [:]
    /// Seconds since the person last proved who they are.
    package var maxAge: Int64?
    package var acrValues: [String] = []
    /// Whether somebody else than ``loginHint`` is refused; the account asked for always binds.
    package var isHintBinding = false
    /// Hand the authorization request in beforehand (RFC 9126) although the provider does not demand it.
    package var pushesAuthorization = false
    package var redirectURI: String?
    package var presentation = Presentation.client
    /// Seconds.
    package var timeout: Int64 = 300
    package var correlationID: String

    /// - Parameter scopes: none means the app's usual ones.
    package init(partition: Partition, app: AppRegistration, scopes: Scopes, correlationID: String) {
        self.partition = partition
        self.app = app
        self.scopes = scopes.isEmpty ? app.usualScopes : scopes
        self.correlationID = correlationID
    }
}

/// `token.acquireByDeviceCode`, after access said yes.
package struct DeviceCodeRequest: TokenSeeking {
    package var partition: Partition
    package var app: AppRegistration
    package var scopes: Scopes
    package var authority: Authority?
    /// Which cloud another device ends up at, nobody is told.
    package var isInstanceAware: Bool { false }
    package var claims: String?
    package var resources: [String] = []
    package var clientCapabilities: [String] = []
    package var tokenType = TokenType.bearer
    /// Seconds; the code's own expiry ends the wait, too.
    package var timeout: Int64?
    package var correlationID: String

    /// - Parameter scopes: none means the app's usual ones.
    package init(partition: Partition, app: AppRegistration, scopes: Scopes, correlationID: String) {
        self.partition = partition
        self.app = app
        self.scopes = scopes.isEmpty ? app.usualScopes : scopes
        self.correlationID = correlationID
    }
}

/// A token that was got, its secret still sealed: whoever writes the answer opens it (`RecordVault.withSecret`).
package struct AcquiredToken: Sendable {
    package var token: StoredRecord<AccessTokenRecord>
    package var idToken: SealedRecord?
    package var account: Account
    package var fromCache: Bool
    package var extendedLifetime = false
    /// False when the disk did not take it yet: the token is good, and the broker goes on trying.
    package var persisted = true

    package init(
        token: StoredRecord<AccessTokenRecord>, idToken: SealedRecord?, account: Account, fromCache: Bool,
        extendedLifetime: Bool = false, persisted: Bool = true
    ) {
        self.token = token
        self.idToken = idToken
        self.account = account
        self.fromCache = fromCache
        self.extendedLifetime = extendedLifetime
        self.persisted = persisted
    }
}

/// What `interaction.open` tells the client.
package struct InteractionOpening: Sendable {
    package var interactionID: String
    package var url: String
    package var redirectURI: String
    package var expiresOn: NumericDate
    package var correlationID: String

    package init(
        interactionID: String, url: String, redirectURI: String, expiresOn: NumericDate, correlationID: String
    ) {
        self.interactionID = interactionID
        self.url = url
        self.redirectURI = redirectURI
        self.expiresOn = expiresOn
        self.correlationID = correlationID
    }
}

/// What `interaction.joined` tells the client: another request has the window, and its outcome is this one's, too.
package struct InteractionJoining: Sendable {
    package var interactionID: String
    /// Until when this request waits.
    package var expiresOn: NumericDate
    package var correlationID: String

    package init(interactionID: String, expiresOn: NumericDate, correlationID: String) {
        self.interactionID = interactionID
        self.expiresOn = expiresOn
        self.correlationID = correlationID
    }
}

import BrokerModel
import BrokerTokenCache
import BrokerValues

/// The part of an imported cache that goes to one app's group, as records. Pure.
package struct ImportPlan: Sendable {
    package struct Token<Record: VaultRecord>: Sendable {
        package var record: Record
        package var secret: Secret
    }

    package var accounts: [AccountRecord] = []
    package var refreshTokens: [Token<RefreshTokenRecord>] = []
    package var accessTokens: [Token<AccessTokenRecord>] = []
    package var idTokens: [Token<IDTokenRecord>] = []
    package var metadata: AppMetadataRecord?
    package var expired = 0
    package var problems: [String] = []

    /// - Parameters:
    ///   - app: the app that takes the tokens of its own client, and those of the families that its client belongs to.
    ///   - isOneOfSeveral: whether its people may also be at home in other clouds (``isEnvironment(_:of:isOneOfSeveral:)``).
    package init(_ cache: UnifiedCache, for app: AppRegistration, isOneOfSeveral: Bool = false, now: NumericDate) {
        var part = CachePart(of: cache, for: app, isOneOfSeveral: isOneOfSeveral, now: now)
        metadata = part.metadata.map {
            AppMetadataRecord(
                group: app.effectiveGroup, clientID: app.clientID, environment: app.authority.environment,
                familyID: $0.familyID, extra: $0.extra.ifAny)
        }
        addRefreshTokens(of: &part)
        addAccessTokens(of: &part)
        addIDTokens(of: &part)
        addAccounts(of: part)
    }

    private mutating func addRefreshTokens(of part: inout CachePart) {
        for token in part.refreshTokens {
            let isOwn = part.isOwn(token)
            let isFamilys = token.familyID != nil && (isOwn || token.familyID == part.metadata?.familyID)
            guard isOwn || isFamilys else { continue }
            guard part.hasAccount(of: token) else {
                problems.append("A refresh token belongs to nobody in the file.")
                continue
            }
            var record = RefreshTokenRecord(
                owner: part.owner(of: token), authority: part.app.authority.url,
                // MSAL always requests these and records only the others.
                scopes: Scopes.reserved.union(Scopes(token.scopes)).asGiven,
                cachedAt: .imported(token.cachedAt, at: part.now))
            record.origin = RefreshTokenRecord.origin(of: token.secret)
            record.extra = token.extra.ifAny
            if isOwn { refreshTokens.append(Token(record: record, secret: token.secret)) }
            if isFamilys {
                record.owner = record.owner.ofFamilies
                record.familyID = token.familyID
                refreshTokens.append(Token(record: record, secret: token.secret))
            }
        }
    }

    private mutating func addAccessTokens(of part: inout CachePart) {
        for token in part.accessTokens where part.isOwn(token) {
            guard let expiresOn = token.expiresOn, expiresOn > part.now else {
                expired += 1
                continue
            }
            guard (token.tokenType ?? "Bearer").lowercased() == "bearer", part.hasAccount(of: token) else {
                problems.append(
                    "An access token is bound to a key of another program, or belongs to nobody in the file.")
                continue
            }
            let realm = part.realm(token.realm, of: token.homeAccountID)
            var record = AccessTokenRecord(
                owner: part.owner(of: token), realm: realm, scopes: token.scopes, tokenType: .bearer,
                authority: part.app.authority.tenant(realm).url, expiresOn: expiresOn,
                extendedExpiresOn: token.extendedExpiresOn, refreshOn: token.refreshOn,
                cachedAt: .imported(token.cachedAt, at: part.now))
            record.extra = token.extra.ifAny
            accessTokens.append(Token(record: record, secret: token.secret))
        }
    }

    private mutating func addIDTokens(of part: inout CachePart) {
        for token in part.idTokens where part.isOwn(token) && part.hasAccount(of: token) {
            var record = IDTokenRecord(
                owner: part.owner(of: token), realm: part.realm(token.realm, of: token.homeAccountID),
                cachedAt: .imported(token.cachedAt, at: part.now))
            record.extra = token.extra.ifAny
            idTokens.append(Token(record: record, secret: token.secret))
        }
    }

    private mutating func addAccounts(of part: CachePart) {
        let authority = part.app.authority
        for account in part.accounts where part.owners.contains(account.homeAccountID) {
            let realm = part.realm(account.realm, of: account.homeAccountID)
            var record = AccountRecord(
                group: part.app.effectiveGroup, homeAccountID: part.id(of: account.homeAccountID, account),
                environment: authority.environment, realm: realm, authority: authority.tenant(realm).url,
                username: account.username ?? account.localAccountID ?? account.homeAccountID, name: account.name,
                tenantID: authority.hasTenants ? realm : nil, createdAt: part.now)
            record.extra = account.extra.ifAny
            accounts.append(record)
        }
    }

    /// Whether the file's environment is the authority's: a cloud's aliases are equal, and MSAL omits a port.
    ///
    /// - Parameter isOneOfSeveral: among several clouds, only the port may distinguish them: a token without one must not go to all
    ///   of them.
    package static func isEnvironment(
        _ environment: String, of authority: Authority, isOneOfSeveral: Bool = false
    ) -> Bool {
        let name = EntraCloud.canonical(environment)
        if name == authority.environment { return true }
        guard authority.isPlainHTTP, !isOneOfSeveral else { return false }
        return name == authority.environment.split(separator: ":", maxSplits: 1).first.map(String.init)
    }
}

/// The part of a cache that is at one app's authority.
private struct CachePart {
    let app: AppRegistration
    let now: NumericDate
    /// The metadata of the app's own client.
    let metadata: UnifiedCache.Metadata?
    let accounts: [UnifiedCache.Account]
    let refreshTokens: [UnifiedCache.Credential]
    let accessTokens: [UnifiedCache.Credential]
    let idTokens: [UnifiedCache.Credential]
    private let accountsByID: [String: UnifiedCache.Account]
    /// MSAL's ids of the accounts whose tokens are imported.
    private(set) var owners: Set<String> = []

    init(of cache: UnifiedCache, for app: AppRegistration, isOneOfSeveral: Bool, now: NumericDate) {
        func isHere(_ environment: String) -> Bool {
            ImportPlan.isEnvironment(environment, of: app.authority, isOneOfSeveral: isOneOfSeveral)
        }
        (self.app, self.now) = (app, now)
        metadata = cache.metadata.first { $0.clientID.isExactly(app.clientID) && isHere($0.environment) }
        accounts = cache.accounts.filter { isHere($0.environment) }
        refreshTokens = cache.refreshTokens.filter { isHere($0.environment) }
        accessTokens = cache.accessTokens.filter { isHere($0.environment) }
        idTokens = cache.idTokens.filter { isHere($0.environment) }
        accountsByID = Dictionary(accounts.map { ($0.homeAccountID, $0) }, uniquingKeysWith: { $1 })
    }

    func isOwn(_ token: UnifiedCache.Credential) -> Bool { token.clientID.isExactly(app.clientID) }

    func hasAccount(of token: UnifiedCache.Credential) -> Bool { accountsByID[token.homeAccountID] != nil }

    mutating func owner(of token: UnifiedCache.Credential) -> TokenOwner {
        owners.insert(token.homeAccountID)
        return TokenOwner(of: id(of: token.homeAccountID), at: app.authority.environment, for: app)
    }

    /// MSAL for Python files tokens from `common` or `organizations` under that name; they belong to the home tenant.
    func realm(_ given: String, of person: String) -> String {
        guard app.authority.hasTenants else { return app.authority.path }
        let tenant = given.lowercased()
        guard Tenant(tenant).isShared else { return tenant }
        return id(of: person).homeTenant ?? tenant
    }

    func id(of person: String) -> HomeAccountID { id(of: person, accountsByID[person]) }

    /// The broker's id of an account: MSAL's own id at a provider with tenants; elsewhere an id made from the subject, which is
    /// unique only at its issuer.
    func id(of person: String, _ account: UnifiedCache.Account?) -> HomeAccountID {
        if app.authority.hasTenants { return HomeAccountID(rawValue: person) }
        return HomeAccountID(subject: account?.localAccountID ?? person, issuer: app.authority.url)
    }
}

extension JSONObject {
    /// The members; `nil` if there are none.
    fileprivate var ifAny: JSONObject? { isEmpty ? nil : self }
}

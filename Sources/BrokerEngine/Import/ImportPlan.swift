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
        let authority = app.authority
        func isHere(_ environment: String) -> Bool {
            Self.isEnvironment(environment, of: authority, isOneOfSeveral: isOneOfSeveral)
        }
        let own = cache.metadata.first { $0.clientID.isExactly(app.clientID) && isHere($0.environment) }
        if let own {
            metadata = AppMetadataRecord(
                group: app.effectiveGroup, clientID: app.clientID, environment: authority.environment,
                familyID: own.familyID, extra: own.extra.isEmpty ? nil : own.extra)
        }
        var people: Set<String> = []
        let known = Dictionary(
            cache.accounts.filter { isHere($0.environment) }.map { ($0.homeAccountID, $0) }, uniquingKeysWith: { $1 })
        func owner(_ credential: UnifiedCache.Credential) -> TokenOwner {
            people.insert(credential.homeAccountID)
            return TokenOwner(
                of: Self.home(credential.homeAccountID, known[credential.homeAccountID], authority),
                at: authority.environment, for: app)
        }
        /// MSAL for Python files tokens from `common` or `organizations` under that name; they belong to the home tenant.
        func realm(_ given: String, of person: String) -> String {
            guard authority.hasTenants else { return authority.path }
            let tenant = given.lowercased()
            guard Tenant(tenant).isShared else { return tenant }
            return Self.home(person, known[person], authority).homeTenant ?? tenant
        }

        for token in cache.refreshTokens where isHere(token.environment) {
            let isOwn = token.clientID.isExactly(app.clientID)
            let isFamilys = token.familyID != nil && (isOwn || token.familyID == own?.familyID)
            guard isOwn || isFamilys else { continue }
            guard known[token.homeAccountID] != nil else {
                problems.append("A refresh token belongs to nobody in the file.")
                continue
            }
            var record = RefreshTokenRecord(
                owner: owner(token), authority: authority.url,
                // MSAL always requests these and records only the others.
                scopes: Scopes.reserved.union(Scopes(token.scopes)).asGiven,
                cachedAt: .imported(token.cachedAt, at: now))
            record.origin = RefreshTokenRecord.origin(of: token.secret)
            record.extra = token.extra.isEmpty ? nil : token.extra
            if isOwn { refreshTokens.append(Token(record: record, secret: token.secret)) }
            if isFamilys {
                record.owner = record.owner.ofFamilies
                record.familyID = token.familyID
                refreshTokens.append(Token(record: record, secret: token.secret))
            }
        }
        for token in cache.accessTokens where token.clientID.isExactly(app.clientID) && isHere(token.environment) {
            guard let expiresOn = token.expiresOn, expiresOn > now else {
                expired += 1
                continue
            }
            guard (token.tokenType ?? "Bearer").lowercased() == "bearer", known[token.homeAccountID] != nil else {
                problems.append(
                    "An access token is bound to a key of another program, or belongs to nobody in the file.")
                continue
            }
            let realm = realm(token.realm, of: token.homeAccountID)
            var record = AccessTokenRecord(
                owner: owner(token), realm: realm, scopes: token.scopes, tokenType: .bearer,
                authority: authority.tenant(realm).url, expiresOn: expiresOn,
                extendedExpiresOn: token.extendedExpiresOn, refreshOn: token.refreshOn,
                cachedAt: .imported(token.cachedAt, at: now))
            record.extra = token.extra.isEmpty ? nil : token.extra
            accessTokens.append(Token(record: record, secret: token.secret))
        }
        for token in cache.idTokens where token.clientID.isExactly(app.clientID) && isHere(token.environment) {
            guard known[token.homeAccountID] != nil else { continue }
            var record = IDTokenRecord(
                owner: owner(token), realm: realm(token.realm, of: token.homeAccountID),
                cachedAt: .imported(token.cachedAt, at: now))
            record.extra = token.extra.isEmpty ? nil : token.extra
            idTokens.append(Token(record: record, secret: token.secret))
        }
        for account in cache.accounts where isHere(account.environment) && people.contains(account.homeAccountID) {
            let realm = realm(account.realm, of: account.homeAccountID)
            let home = Self.home(account.homeAccountID, account, authority)
            var record = AccountRecord(
                group: app.effectiveGroup, homeAccountID: home, environment: authority.environment, realm: realm,
                authority: authority.tenant(realm).url,
                username: account.username ?? account.localAccountID ?? account.homeAccountID, name: account.name,
                tenantID: authority.hasTenants ? realm : nil, createdAt: now)
            record.extra = account.extra.isEmpty ? nil : account.extra
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

    /// The broker's id of an account: MSAL's own id at a provider with tenants; elsewhere an id made from the subject, which is
    /// unique only at its issuer.
    private static func home(
        _ given: String, _ account: UnifiedCache.Account?, _ authority: Authority
    ) -> HomeAccountID {
        if authority.hasTenants { return HomeAccountID(rawValue: given) }
        return HomeAccountID(subject: account?.localAccountID ?? given, issuer: authority.url)
    }
}

extension ImportPlan {
    /// The records that the cache lacks or has in an older version.
    struct NewRecords: Sendable {
        var change: CacheChange
        /// Tokens of which the cache has an equal or newer one.
        var older = 0
        /// Accounts for which there is no room.
        var leftOut = 0
    }

    /// Runs in the write queue.
    func newRecords(
        for client: ClientKey, in index: CacheIndex, sealedBy vault: any RecordVault
    ) throws(VaultError) -> NewRecords {
        let partition = client.partition
        var new = NewRecords(change: CacheChange(in: partition))
        func cached(_ owner: TokenOwner) throws(VaultError) -> CachedTokens {
            try index.loadTokens(of: .init(partition: partition, owner: owner))
        }
        let known = try index.loadAccounts(of: .init(partition: partition, group: client.group))
        var room = AccountRoom()
        var profiles: [KnownAccounts.PersonKey: Set<String>] = [:]
        for record in accounts {
            let isKnown = known.entry(of: record) != nil
            if !isKnown {
                let account = try vault.seal(record, secret: nil, in: partition)
                guard room.take(account.sealed, in: client.group, of: known) else {
                    new.leftOut += 1
                    continue
                }
                new.change.add(.account(.put(account)))
            }
            profiles[KnownAccounts.PersonKey(record), default: []].insert(record.realm)
        }
        func belongsToImportedAccount(_ owner: TokenOwner, in realm: String? = nil) -> Bool {
            let person = KnownAccounts.PersonKey(homeAccountID: owner.homeAccountID, environment: owner.environment)
            return profiles[person].map { realms in realm.map(realms.contains) ?? true } ?? false
        }
        let origins = Set(refreshTokens.compactMap(\.record.origin))
        let twins = try index.loadRefreshTokens(ofOrigins: origins, in: partition, from: index.loadTokens)
        for token in refreshTokens where belongsToImportedAccount(token.record.owner) {
            let same = try cached(token.record.owner).predecessor(of: token.record)
            let twin = twins.first { $0.record.origin == token.record.origin }
            let isNewer = same.map {
                $0.record.origin != token.record.origin && $0.record.cachedAt < token.record.cachedAt
            }
            guard isNewer ?? true, twin?.record.keyThumbprint == nil else {
                new.older += 1
                continue
            }
            // Another group may have redeemed it.
            let record = twin?.record.taking(place: token.record) ?? token.record
            let secret = try twin.map { twin throws(VaultError) in try vault.secret(of: twin.sealed) } ?? token.secret
            new.change.add(.refreshToken(.put(try vault.seal(record, secret: secret, in: partition))))
        }
        for token in accessTokens where belongsToImportedAccount(token.record.owner) {
            let replaced = try cached(token.record.owner).accessTokens(replacedBy: token.record).map(\.stored)
            guard replaced.allSatisfy({ $0.record.cachedAt < token.record.cachedAt }) else {
                new.older += 1
                continue
            }
            for old in replaced { new.change.add(.accessToken(.delete(old))) }
            new.change.add(.accessToken(.put(try vault.seal(token.record, secret: token.secret, in: partition))))
        }
        for token in idTokens where belongsToImportedAccount(token.record.owner, in: token.record.realm) {
            guard try cached(token.record.owner).idTokens[token.record.realm] == nil else {
                new.older += 1
                continue
            }
            new.change.add(.idToken(.put(try vault.seal(token.record, secret: token.secret, in: partition))))
        }
        if let metadata, try index.loadMembership(of: client) == .unknown {
            new.change.add(.appMetadata(.put(try vault.seal(metadata, secret: nil, in: partition))))
        }
        return new
    }
}

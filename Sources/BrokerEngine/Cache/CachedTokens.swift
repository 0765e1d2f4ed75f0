import BrokerModel
import BrokerValues

/// The tokens of one owner in memory: fields in the clear, secrets sealed as on disk.
package struct CachedTokens: Sendable {
    package struct AccessToken: Sendable {
        package let stored: StoredRecord<AccessTokenRecord>
        /// Compared on the hot path, so computed once.
        package let scopes: Set<String>

        package init(_ stored: StoredRecord<AccessTokenRecord>) {
            self.stored = stored
            scopes = Set(Scopes(stored.record.scopes).normalized)
        }

        /// A token for one audience says nothing to another (RFC 8707, section 2).
        func isGood(at resources: [String]) -> Bool { (stored.record.resources ?? []) == resources }
    }

    package var accessTokens: [AccessToken] = []
    package var refreshToken: StoredRecord<RefreshTokenRecord>?
    /// Bound to ``proofKey`` (RFC 9449, section 5).
    package var boundRefreshToken: StoredRecord<RefreshTokenRecord>?
    package var proofKey: StoredRecord<ProofKeyRecord>?
    /// Only under ``TokenOwner/ofFamilies``.
    package var familyTokens: [StoredRecord<RefreshTokenRecord>] = []
    /// By realm.
    package var idTokens: [String: SealedRecord] = [:]

    package init() {}

    package var count: Int { accessTokens.count + refreshTokens.count + idTokens.count }

    package var refreshTokens: [StoredRecord<RefreshTokenRecord>] {
        [refreshToken, boundRefreshToken].compactMap(\.self) + familyTokens
    }

    /// Takes the place of the one with the same key.
    package mutating func put(_ token: StoredRecord<RefreshTokenRecord>) {
        if token.record.keyThumbprint != nil {
            boundRefreshToken = token
        } else if token.record.familyID == nil {
            refreshToken = token
        } else {
            familyTokens.removeAll { $0.record.key == token.record.key }
            familyTokens.append(token)
        }
    }

    /// - Returns: whether this very token, not a successor of it, was there.
    @discardableResult
    package mutating func remove(_ token: StoredRecord<RefreshTokenRecord>) -> Bool {
        guard holds(token) else { return false }
        if refreshToken?.sealed.box == token.sealed.box { refreshToken = nil }
        if boundRefreshToken?.sealed.box == token.sealed.box { boundRefreshToken = nil }
        familyTokens.removeAll { $0.sealed.box == token.sealed.box }
        return true
    }

    package func holds(_ token: StoredRecord<RefreshTokenRecord>) -> Bool {
        refreshTokens.contains { $0.sealed.box == token.sealed.box }
    }

    /// The first usable token that carries at least the scopes asked for, at the same resources.
    ///
    /// - Parameter resources: sorted.
    package func accessToken(
        covering scopes: Scopes, realm: String, type: TokenType, resources: [String] = [], rule: ExpiryRule
    ) -> StoredRecord<AccessTokenRecord>? {
        accessTokens.first { token in
            token.stored.record.realm == realm && token.stored.record.tokenType == type
                && (type == .bearer || isBound(token.stored.record)) && token.isGood(at: resources)
                && scopes.normalized.allSatisfy(token.scopes.contains) && rule.isUsable(token.stored.record)
        }?.stored
    }

    /// The token for a provider that is down: past its expiry, within what the provider allows for this case.
    package func extendedToken(
        covering scopes: Scopes, realm: String, type: TokenType, resources: [String] = [], rule: ExpiryRule
    ) -> StoredRecord<AccessTokenRecord>? {
        accessTokens.first { token in
            token.stored.record.realm == realm && token.stored.record.tokenType == type
                && (type == .bearer || isBound(token.stored.record)) && token.isGood(at: resources)
                && scopes.normalized.allSatisfy(token.scopes.contains)
                && rule.isUsableWhileProviderIsDown(token.stored.record)
        }?.stored
    }

    /// Tokens that a new one replaces: same realm, type and resources, and a scope in common (MSAL, "Saving a token").
    ///
    /// What the broker itself adds to every request is no scope in common: otherwise two apps that share a client and ask
    /// for different things would throw out each other's token for ever.
    package func accessTokens(replacedBy record: AccessTokenRecord) -> [AccessToken] {
        let scopes = Set(Scopes(record.scopes).normalized).subtracting(Scopes.reserved.normalized)
        return accessTokens.filter { token in
            guard token.stored.record.realm == record.realm, token.stored.record.tokenType == record.tokenType,
                token.isGood(at: record.resources ?? [])
            else { return false }
            let theirs = token.scopes.subtracting(Scopes.reserved.normalized)
            return !theirs.isDisjoint(with: scopes) || (theirs.isEmpty && scopes.isEmpty)
        }
    }
}

/// The accounts of one group in memory.
package struct KnownAccounts: Sendable {
    package struct Entry: Sendable {
        package let stored: StoredRecord<AccountRecord>
        /// What apps see: the person, with the profiles of all tenants.
        package var account: Account
        /// False for the further tenants of a person, who is listed and chosen once.
        package var isPrimary = true
        /// Of an account at Entra: where it was made.
        package let homeTenant: String?
    }

    package struct SignOut: Sendable, Hashable {
        package let app: String
        package let homeAccountID: HomeAccountID
        package let environment: String
    }

    /// In the order they were first seen.
    package var entries: [Entry] = [] { didSet { entries = TenantProfiles.merged(entries) } }
    package var signOuts: Set<SignOut> = []

    package init() {}

    package func isSignedIn(_ entry: Entry, for app: AppRegistration) -> Bool {
        isSignedIn(entry, for: app.identity)
    }

    /// - Parameter app: ``AppRegistration/identity``.
    package func isSignedIn(_ entry: Entry, for app: String) -> Bool {
        entry.stored.record.signedIn && !signOuts.contains(Self.signOut(of: entry.stored.record, from: app))
    }

    /// Whether the account of a record about to be written is there already, and signed in.
    func hasSignedIn(_ record: AccountRecord, for app: String) -> Bool {
        entries.contains { $0.stored.record.key == record.key && isSignedIn($0, for: app) }
    }

    package static func signOut(of record: AccountRecord, from app: String) -> SignOut {
        SignOut(app: app, homeAccountID: record.homeAccountID, environment: record.environment)
    }

    package mutating func sort() {
        entries.sort {
            let (left, right) = ($0.stored.record, $1.stored.record)
            return (left.createdAt, left.username, $0.account.id) < (right.createdAt, right.username, $1.account.id)
        }
    }
}

extension KnownAccounts.Entry {
    package init(_ stored: StoredRecord<AccountRecord>) {
        self.stored = stored
        homeTenant = stored.record.homeAccountID.homeTenant
        account = Self.account(of: stored)
    }

    /// Without the other tenants.
    var ownAccount: Account { Self.account(of: stored) }

    private static func account(of stored: StoredRecord<AccountRecord>) -> Account {
        let record = stored.record
        return Account(
            id: record.homeAccountID.accountID(in: stored.sealed.partition, environment: record.environment),
            username: record.username, name: record.name, environment: record.environment, tenantId: record.tenantID,
            homeAccountId: record.homeAccountID.rawValue, authority: record.authority, signedIn: record.signedIn,
            claims: record.claims.isEmpty ? nil : record.claims)
    }

    package func matches(_ selector: AccountSelector) -> Bool {
        switch selector {
        case .id(let id): account.id == id
        case .username(let name): account.isCalled(name)
        }
    }
}

extension Account {
    /// Whether this is its username in any tenant; compared without case.
    package func isCalled(_ name: String) -> Bool {
        let name = name.lowercased()
        return username.lowercased() == name
            || tenantProfiles?.contains { $0.username?.lowercased() == name } ?? false
    }
}

import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues

/// Records as the rules see them; nothing here is encrypted, because the rules never look at secrets.
extension Sample {
    static func owner(_ app: AppRegistration = app()) -> TokenOwner {
        TokenOwner(
            group: app.effectiveGroup, clientID: app.clientID,
            homeAccountID: HomeAccountID(subject: "alice", issuer: app.authority.url),
            environment: app.authority.environment)
    }

    static func stored<Record: VaultRecord>(_ record: Record) -> StoredRecord<Record> {
        let key = record.key.bucket.joined() + record.key.item.joined(separator: "|")
        return StoredRecord(
            record: record,
            sealed: SealedRecord(
                partition: partition, kind: Record.kind, rowKey: Array(key.utf8), bucketKey: [], box: Array(key.utf8)))
    }

    static func accessToken(
        scopes: [String] = ["mail.read"], realm: String = "realm", type: TokenType = .bearer, expiresIn: Int64 = 3600,
        cachedAt: NumericDate = now, resources: [String] = []
    ) -> AccessTokenRecord {
        AccessTokenRecord(
            owner: owner(), realm: realm, scopes: scopes, tokenType: type, authority: authority().url,
            expiresOn: now + expiresIn, cachedAt: cachedAt, resources: resources)
    }

    static func refreshToken(_ scopes: [String] = ["mail.read"]) -> RefreshTokenRecord {
        RefreshTokenRecord(owner: owner(), authority: authority().url, scopes: scopes, cachedAt: now)
    }

    static func tokens(_ accessTokens: [AccessTokenRecord], refreshToken: Bool = true) -> CachedTokens {
        CachedTokens(
            accessTokens: accessTokens.map(stored), refreshTokens: refreshToken ? [stored(Self.refreshToken())] : [])
    }

    static func account(
        _ username: String, subject: String? = nil, app: AppRegistration = app(),
        at authority: Authority = authority(), signedIn: Bool = true, createdAt: NumericDate = now
    ) -> KnownAccounts.Entry {
        entry(
            AccountRecord(
                group: app.effectiveGroup,
                homeAccountID: HomeAccountID(subject: subject ?? username, issuer: authority.url),
                environment: authority.environment, realm: authority.path, authority: authority.url,
                username: username, signedIn: signedIn, createdAt: createdAt))
    }

    /// The group's entry of it.
    static func entry(_ record: AccountRecord) -> KnownAccounts.Entry {
        KnownAccounts.Entry(stored(record), id: "\(record.homeAccountID.rawValue) at \(record.environment)")
    }
}

import BrokerEngine
import BrokerModel
import BrokerValues

/// Records as the rules meet them; nothing here is encrypted, for the rules never look at secrets.
enum Sample {
    static let now: NumericDate = 1_800_000_000
    static let partition = Partition(uid: 1000)

    static func authority(_ url: String = "https://id.example.org/realm") -> Authority {
        guard let authority = try? Authority(parsing: url, allowHTTPLoopback: true) else {
            fatalError("the test's own authority is none: \(url)")
        }
        return authority
    }

    static func app(_ name: String = "mail", client: String = "client-1", group: String? = nil) -> AppRegistration {
        AppRegistration(name: name, clientID: client, authority: authority(), group: group)
    }

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
        KnownAccounts.Entry(
            stored(
                AccountRecord(
                    group: app.effectiveGroup,
                    homeAccountID: HomeAccountID(subject: subject ?? username, issuer: authority.url),
                    environment: authority.environment, realm: authority.path, authority: authority.url,
                    username: username, signedIn: signedIn, createdAt: createdAt)))
    }
}

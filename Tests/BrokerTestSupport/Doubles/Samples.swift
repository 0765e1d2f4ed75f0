import BrokerModel
import BrokerValues

/// Values that many tests need and whose details matter to none.
package enum Sample {
    package static let now: NumericDate = 1_800_000_000
    package static let partition = Partition(uid: 1000)

    // Its texts are written in tests: a wrong one fails every time.
    package static func authority(_ url: String = "https://id.example.org/realm") -> Authority {
        guard let authority = try? Authority(parsing: url, allowHTTPLoopback: true) else {
            fatalError("the test's own authority is none: \(url)")
        }
        return authority
    }

    package static func app(
        _ name: String = "mail", client: String = "client-1", at authority: Authority = authority(),
        group: String? = nil
    ) -> AppRegistration {
        AppRegistration(name: name, clientID: client, authority: authority, group: group)
    }
}

/// Records as the rules see them; nothing here is encrypted, because the rules never look at secrets.
extension Sample {
    package static func owner(_ app: AppRegistration = app()) -> TokenOwner {
        TokenOwner(
            group: app.effectiveGroup, clientID: app.clientID,
            homeAccountID: HomeAccountID(subject: "alice", issuer: app.authority.url),
            environment: app.authority.environment)
    }

    package static func stored<Record: VaultRecord>(_ record: Record) -> StoredRecord<Record> {
        let key = record.key.bucket.joined() + record.key.item.joined(separator: "|")
        return StoredRecord(
            record: record,
            sealed: SealedRecord(
                partition: partition, kind: Record.kind, rowKey: Array(key.utf8), bucketKey: [], box: Array(key.utf8)))
    }

    package static func accessToken(
        scopes: [String] = ["mail.read"], realm: String = "realm", type: TokenType = .bearer, expiresIn: Int64 = 3600,
        cachedAt: NumericDate = now, resources: [String] = []
    ) -> AccessTokenRecord {
        AccessTokenRecord(
            owner: owner(), realm: realm, scopes: scopes, tokenType: type, authority: authority().url,
            expiresOn: now + expiresIn, cachedAt: cachedAt, resources: resources)
    }

    package static func refreshToken(_ scopes: [String] = ["mail.read"]) -> RefreshTokenRecord {
        RefreshTokenRecord(owner: owner(), authority: authority().url, scopes: scopes, cachedAt: now)
    }
}

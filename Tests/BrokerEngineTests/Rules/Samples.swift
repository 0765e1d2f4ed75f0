import BrokerModel
import BrokerTestSupport
import BrokerTokenCache
import BrokerValues

extension Sample {
    static func tokens(_ accessTokens: [AccessTokenRecord], refreshToken: Bool = true) -> CachedTokens {
        CachedTokens(
            accessTokens: accessTokens.map(stored), refreshTokens: refreshToken ? [stored(Self.refreshToken())] : [])
    }

    static func account(
        _ username: String, subject: String? = nil, app: AppRegistration = app(),
        at authority: Authority = authority(), signedIn: Bool = true, createdAt: NumericDate = now
    ) -> KnownAccount {
        entry(
            AccountRecord(
                group: app.effectiveGroup,
                homeAccountID: HomeAccountID(subject: subject ?? username, issuer: authority.url),
                environment: authority.environment, realm: authority.path, authority: authority.url,
                username: username, signedIn: signedIn, createdAt: createdAt))
    }

    /// The group's entry of it.
    static func entry(_ record: AccountRecord) -> KnownAccount {
        KnownAccount(stored(record), id: "\(record.homeAccountID.rawValue) at \(record.environment)")
    }
}

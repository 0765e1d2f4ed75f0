import BrokerModel
import BrokerTokenCache
import BrokerValues

/// The records made from a token response. Pure: they follow from the response, the claims and the time. Immutable.
package final class GrantedTokens: Sendable {
    package let account: AccountRecord
    package let accessToken: AccessTokenRecord
    /// The refresh token; `nil` if the provider returned none.
    package let refreshToken: RefreshTokenRecord?
    /// The same token for all clients of its family (MSAL, "FOCI").
    package let familyToken: RefreshTokenRecord?
    package let idToken: IDTokenRecord?
    /// The scopes that were requested and not granted.
    package let declined: Scopes
    package let granted: Scopes

    package struct Context: Sendable {
        package var app: AppRegistration
        package var authority: Authority
        /// The scopes that the app requested.
        package var asked: Scopes
        /// The scopes sent to the provider: they count as granted if it does not say.
        package var sent: Scopes
        package var resources: [String]
        package var now: NumericDate
        package var defaultLifetime: Int64
        /// The account whose refresh token was redeemed; `nil` means that the response says whose it is.
        package var refreshing: AccountRecord?
        /// The thumbprint of the key whose proof was sent.
        package var proofKeyThumbprint: String?
        /// ``RefreshTokenRecord/grantNarrows`` of an earlier grant of the same person and client.
        package var grantNarrows: Bool?
        /// The nonce that the sign-in sent, if any.
        package var nonce: String?

        package init(
            app: AppRegistration, authority: Authority, asked: Scopes, sent: Scopes, resources: [String] = [],
            now: NumericDate, defaultLifetime: Int64, proofKeyThumbprint: String? = nil
        ) {
            self.app = app
            self.authority = authority
            self.asked = asked
            self.sent = sent
            self.resources = CacheQuestion.sorted(resources: resources)
            self.now = now
            self.defaultLifetime = defaultLifetime
            self.proofKeyThumbprint = proofKeyThumbprint
        }
    }

    /// - Parameters:
    ///   - claims: the claims of the verified ID token; `nil` if a refresh brought none.
    ///   - known: the account as the group knows it, if it does.
    ///   - spent: the redeemed refresh token; `nil` after a sign-in.
    package init?(
        _ response: TokenResponse, claims: IDTokenClaims?, known: AccountRecord?, spent: RefreshTokenRecord? = nil,
        context: Context
    ) {
        guard let account = Self.account(claims, response.clientInfo, known: known, context) else { return nil }
        let named = Self.namedScopes(in: response, spent: spent, context)
        self.account = account
        granted = named.scopes
        declined = ScopeRules.declined(asked: context.asked, granted: granted)
        accessToken = Self.accessToken(response, of: account, named, spent: spent, context)
        let owner = TokenOwner(of: account, for: context.app)
        idToken =
            response.idToken == nil
            ? nil
            : IDTokenRecord(
                owner: owner, realm: account.realm, cachedAt: context.now,
                expiresOn: claims?.all["exp"]?.integerValue)
        guard response.refreshToken != nil else {
            (refreshToken, familyToken) = (nil, nil)
            return
        }
        var token = Self.refreshToken(response, of: owner, named, spent: spent, context)
        familyToken = Self.familyToken(token, of: response.familyID, spent: spent)
        // Unknown members of a token are taken to belong to its grant, which continues in the successor. A family's token was
        // granted to another app, and a sign-in is a grant of its own.
        if spent?.familyID == nil { token.extra = spent?.extra }
        refreshToken = token
    }

    /// The scopes that the provider named, or those that were sent, or else the whole grant's (RFC 6749, section 6); and
    /// the default ones that were asked for.
    private static func namedScopes(
        in response: TokenResponse, spent: RefreshTokenRecord?, _ context: Context
    ) -> BoundedScopes {
        let unnamed = context.sent.isEmpty ? spent?.scopes ?? [] : context.sent.asGiven
        let spelling = ScopeSpelling(of: context.asked.union(context.sent), at: context.authority.kind)
        return BoundedScopes(
            (response.scope.map { spelling.requested($0.split(whereSeparator: \.isWhitespace)) }
                ?? unnamed.map { $0[...] })
                + ScopeRules.defaults(of: context.asked).map { $0[...] }, first: context.asked)
    }

    private static func accessToken(
        _ response: TokenResponse, of account: AccountRecord, _ named: BoundedScopes, spent: RefreshTokenRecord?,
        _ context: Context
    ) -> AccessTokenRecord {
        let canRefresh = response.refreshToken != nil || spent != nil
        let expiresOn =
            response.expiresIn == nil && !canRefresh
            ? TokenEnd.unknown : time(context.now, plus: response.expiresIn ?? context.defaultLifetime)
        var token = AccessTokenRecord(
            owner: TokenOwner(of: account, for: context.app), realm: account.realm,
            scopes: ScopeRules.filed(named.scopes, asked: context.asked).asGiven, tokenType: response.tokenType,
            authority: context.authority.tenant(account.realm).url, expiresOn: expiresOn,
            extendedExpiresOn: response.extendedExpiresIn.map { time(context.now, plus: $0) },
            refreshOn: response.refreshIn.map { time(context.now, plus: $0) }, cachedAt: context.now,
            keyThumbprint: response.tokenType == .dpop ? context.proofKeyThumbprint : nil, resources: context.resources)
        let isForAnyResource = spent?.namesResources == true && context.resources.isEmpty
        let isForUnknownGrant =
            response.scope == nil && context.sent.isEmpty
            && spent.map { $0.scopes.isEmpty || $0.isGoodForMore == true } ?? false
        token.isGoodForMore = named.isCut || isForAnyResource || isForUnknownGrant ? true : nil
        return token
    }

    private static func refreshToken(
        _ response: TokenResponse, of owner: TokenOwner, _ named: BoundedScopes, spent: RefreshTokenRecord?,
        _ context: Context
    ) -> RefreshTokenRecord {
        let earlier = spent.map(ScopeRules.earlierGrant) ?? Scopes([])
        let all = BoundedScopes(earlier.asGiven + named.scopes.asGiven, first: context.asked)
        var token = RefreshTokenRecord(
            owner: owner, authority: context.authority.url, scopes: all.scopes.asGiven,
            cachedAt: context.now, keyThumbprint: context.refreshTokenBinding(in: response))
        token.givesBearer = token.keyThumbprint != nil && response.tokenType == .bearer ? true : nil
        token.isGoodForMore = all.isCut || named.isCut || spent?.isGoodForMore == true ? true : nil
        token.namesResources = spent.map(\.namesResources) ?? (context.resources.isEmpty ? nil : true)
        token.narrowedTo = spent.flatMap { ScopeRules.narrowing(of: $0, by: context.sent) }
        token.grantNarrows = spent?.grantNarrows ?? context.grantNarrows
        token.nonce = spent.map(\.nonce) ?? context.nonce
        token.origin = spent?.origin
        token.isReusable = spent?.isReusable
        return token
    }

    private static func familyToken(
        _ token: RefreshTokenRecord, of family: String?, spent: RefreshTokenRecord?
    ) -> RefreshTokenRecord? {
        guard let family, !family.isEmpty else { return nil }
        var shared = token
        shared.owner = token.owner.ofFamilies
        shared.familyID = family
        // Each client has a sign-in, and a nonce, of its own.
        shared.nonce = nil
        shared.extra = spent?.extra
        return shared
    }

    /// A provider's lifetime is a number from outside: it must not be negative or beyond all calendars.
    private static func time(_ now: NumericDate, plus lifetime: Int64) -> NumericDate {
        now + min(max(lifetime, 0), 100 * 365 * 86_400)
    }

    private static func account(
        _ claims: IDTokenClaims?, _ clientInfo: String?, known: AccountRecord?, _ context: Context
    ) -> AccountRecord? {
        guard let claims else { return known }
        let identity: TokenIdentity
        if let account = context.refreshing {
            guard
                let same = TokenIdentity(
                    refreshed: claims, clientInfo: clientInfo, of: account, at: context.authority)
            else { return nil }
            identity = same
        } else {
            identity = TokenIdentity(claims, clientInfo: clientInfo, at: context.authority)
        }
        var account = AccountRecord(
            group: context.app.effectiveGroup, homeAccountID: identity.homeAccountID,
            environment: context.authority.environment, realm: identity.realm,
            authority: context.authority.tenant(identity.realm).url,
            username: ProfileClaims.namedUser(in: claims) ?? known?.username ?? claims.subject.text,
            name: claims["name"] ?? known?.name,
            tenantID: claims["tid"], claims: described(by: claims, known, context), signedIn: true,
            createdAt: known?.createdAt ?? context.now)
        account.domainNames = domainNames(known, context.authority)
        account.extra = known?.extra
        return account
    }

    private static func domainNames(_ known: AccountRecord?, _ authority: Authority) -> [String]? {
        guard case .domain(let name) = authority.tenant else { return known?.domainNames }
        // A tenant has a handful of domains; this is a bound, not a rule.
        return Array(([name] + (known?.domainNames ?? []).filter { $0 != name }).prefix(16))
    }

    /// A refreshed ID token may say less than that of the sign-in (OpenID Connect Core, section 12.2).
    private static func described(
        by claims: IDTokenClaims, _ known: AccountRecord?, _ context: Context
    ) -> JSONObject {
        let earlier = context.refreshing == nil ? nil : known.map { ProfileClaims.of($0.claims) }
        return (earlier ?? [:]).merging(claims.all.filter { !protocolClaims.contains($0.key) }) { $1 }
    }

    /// Claims that protect the token rather than describe the person.
    private static let protocolClaims: Set<String> = [
        "aud", "azp", "exp", "iat", "nbf", "nonce", "jti", "at_hash", "c_hash", "s_hash", "aio", "rh", "uti",
    ]
}

extension GrantedTokens.Context {
    /// A public client's refresh token is bound together with the access token; a confidential one's never is, because the client's
    /// authentication protects it (RFC 9449, section 5). With a bearer token a proof was sent only to bind the refresh token; the
    /// response does not say whether it is bound, and an unneeded proof does no harm (decision 14).
    package func refreshTokenBinding(in response: TokenResponse) -> String? {
        response.tokenType == .bearer || app.clientSecret == nil ? proofKeyThumbprint : nil
    }
}

import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Records of a token response")
struct GrantRuleTests {
    private func grant(
        scope: String? = nil, asked: [String] = ["mail.read"], sent: [String]? = nil, expiresIn: Int64? = 3600,
        claims: JSONObject = [:], known: AccountRecord? = nil, spent: RefreshTokenRecord? = nil,
        refreshToken: Bool = true, family: String? = nil
    ) -> GrantedTokens? {
        let asked = Scopes(asked)
        var response = TokenResponse(
            accessToken: Secret("at"), expiresIn: expiresIn, refreshToken: refreshToken ? Secret("rt") : nil,
            scope: scope)
        response.familyID = family
        return GrantedTokens(
            response,
            claims: IDTokenClaims(
                issuer: "https://id.example.org/realm", subject: "sub-1",
                all: claims.merging(["nonce": "n", "exp": 1], uniquingKeysWith: { $1 })),
            known: known, spent: spent,
            context: .init(
                app: Sample.app(), authority: Sample.authority(), asked: asked,
                sent: sent.map { Scopes($0) } ?? Scopes.reserved.union(asked), now: Sample.now, defaultLifetime: 3600))
    }

    @Test("requested scopes count as granted if the provider names none")
    func silentScope() throws {
        let granted = try #require(grant())
        #expect(granted.granted == Scopes(["openid", "profile", "offline_access", "mail.read"]))
        #expect(granted.declined.isEmpty)
    }

    @Test("a refresh that sends no scope, and gets none named, brings a token for the whole grant")
    func unnamedGrant() throws {
        let whole = try #require(grant(asked: [], sent: [], spent: spent(["mail.read", "calendar"])))
        #expect(whole.accessToken.scopes == ["mail.read", "calendar"] && whole.accessToken.isGoodForMore == nil)
        #expect(whole.refreshToken?.scopes == ["mail.read", "calendar"] && whole.refreshToken?.narrowedTo == nil)
        let unknown = try #require(grant(asked: [], sent: [], spent: spent([])))
        #expect(unknown.accessToken.isGoodForMore == true)
    }

    @Test("requested scopes that were not granted are declined, except email")
    func declined() throws {
        let granted = try #require(grant(scope: "openid Mail.Read", asked: ["mail.read", "email", "calendar"]))
        #expect(granted.declined == Scopes(["calendar"]))
        #expect(granted.granted == Scopes(["openid", "mail.read"]))
    }

    @Test("a token without email answers requests for email, but not for declined scopes")
    func forgivenEmail() throws {
        let granted = grant(scope: "openid mail.read", asked: ["mail.read", "Email", "calendar"])
        let token = try #require(granted).accessToken
        #expect(Scopes(["mail.read", "email"]).isSubset(of: Scopes(token.scopes)))
        #expect(!Scopes(["calendar"]).isSubset(of: Scopes(token.scopes)))
        let without = try #require(grant(scope: "openid mail.read", asked: ["mail.read"])).accessToken
        #expect(Scopes(without.scopes) == Scopes(["openid", "mail.read"]))
    }

    @Test("a token without a lifetime lives an hour, and absurd lifetimes are bounded")
    func lifetimes() throws {
        #expect(try #require(grant(expiresIn: nil)).accessToken.expiresOn == Sample.now + 3600)
        #expect(try #require(grant(expiresIn: -7)).accessToken.expiresOn == Sample.now)
        #expect(try #require(grant(expiresIn: .max)).accessToken.expiresOn < Sample.now + 101 * 366 * 86_400)
    }

    @Test("the username is preferred_username, else email, else upn, else the subject")
    func usernames() throws {
        #expect(try #require(grant(claims: ["preferred_username": "a", "email": "b"])).account.username == "a")
        #expect(try #require(grant(claims: ["preferred_username": "", "email": "b"])).account.username == "b")
        #expect(try #require(grant(claims: ["upn": "c"])).account.username == "c")
        #expect(try #require(grant()).account.username == "sub-1")
    }

    @Test("claims that only protect the token are not kept")
    func claims() throws {
        let granted = try #require(grant(claims: ["name": "Alice", "aud": "x", "email": "a@b"]))
        #expect(granted.account.claims == ["name": "Alice", "email": "a@b"])
        #expect(granted.account.name == "Alice")
    }

    @Test("a narrower refresh keeps the refresh token's original grant")
    func earlierGrant() throws {
        let spent = spent(["openid", "mail.read", "calendar"])
        let granted = try #require(grant(scope: "mail.read", spent: spent))
        #expect(try #require(granted.refreshToken).scopes == ["openid", "mail.read", "calendar"])
    }

    private func spent(_ scopes: [String] = ["openid"], family: String? = nil) -> RefreshTokenRecord {
        var record = RefreshTokenRecord(
            owner: Sample.owner(), familyID: family, authority: Sample.authority().url, scopes: scopes, cachedAt: 1)
        record.extra = ["flow": "device"]
        return record
    }

    @Test("unknown fields of a refresh token are kept only in its successors")
    func unknownFieldsOfTheGrant() throws {
        let rotated = try #require(grant(spent: spent(), family: "1"))
        #expect(rotated.refreshToken?.extra == ["flow": "device"])
        #expect(rotated.familyToken?.extra == ["flow": "device"])
        #expect(rotated.accessToken.extra == nil)
        let familys = try #require(grant(spent: spent(family: "1"), family: "1"))
        #expect(familys.refreshToken?.extra == nil)
        #expect(familys.familyToken?.extra == ["flow": "device"])
        let signedIn = try #require(grant(family: "1"))
        #expect(signedIn.refreshToken?.extra == nil && signedIn.familyToken?.extra == nil)
    }

    @Test("an account keeps its place in the list when it signs in again")
    func createdAt() throws {
        let known = Sample.account("alice", createdAt: 7).stored.record
        #expect(try #require(grant(known: known)).account.createdAt == 7)
    }

    @Test("a response without a refresh token leaves the cached one alone")
    func withoutRefreshToken() throws {
        #expect(try #require(grant(refreshToken: false)).refreshToken == nil)
    }

    @Test(
        "scopes that the broker adds itself are refused in any case",
        arguments: ["openid", "Profile", "OFFLINE_ACCESS"])
    func reserved(scope: String) {
        #expect(throws: BrokerError.self) { try ScopeRules.check(Scopes(["mail.read", scope])) }
    }

    @Test("email may be requested")
    func email() throws { try ScopeRules.check(Scopes(["email"])) }

    @Test("a refresh requests only the reserved scopes that were granted")
    func refreshScopes() {
        let asked = ScopeRules.toRefresh(Scopes(["mail.read"]), granted: Scopes(["openid", "mail.read", "calendar"]))
        #expect(asked.parameter == "openid mail.read")
    }

    @Test("a refresh at a provider that narrows requests the whole grant, and a .default alone")
    func refreshOfTheWholeGrant() {
        let granted = Scopes(["openid", "mail.read", "calendar", "https://api.example/.default"])
        func asked(_ scopes: [String], at kind: ProviderKind = .generic) -> Scopes {
            ScopeRules.toRefresh(Scopes(scopes), granted: granted, keepsWhole: true, at: kind)
        }
        #expect(asked(["mail.read"]) == Scopes(["openid", "mail.read", "calendar"]))
        #expect(asked(["files"]) == Scopes(["openid", "mail.read", "calendar", "files"]))
        #expect(asked(["https://api.example/.default"]) == Scopes(["openid", "https://api.example/.default"]))
        #expect(asked(["files"], at: .entra) == Scopes.reserved.union(Scopes(["files"])))
    }

    @Test(
        "offline_access is requested if it is published, if nothing is, and at providers known to accept it",
        arguments: [
            (ProviderKind.generic, nil, true), (.generic, ["openid", "Offline_Access"], true),
            (.generic, ["openid", "profile", "email"], false), (.generic, [], false), (.entra, ["openid"], true),
            (.adfs, ["openid"], true),
        ] as [(ProviderKind, [String]?, Bool)])
    func offlineAccess(kind: ProviderKind, published: [String]?, isAsked: Bool) throws {
        let paths = [ProviderKind.entra: "/common", .adfs: "/adfs"]
        let authority = try Authority(
            parsing: "https://id.example.org" + (paths[kind] ?? ""), allowHTTPLoopback: false,
            kinds: ["id.example.org": kind])
        var metadata = ProviderMetadata(
            authority: authority, issuer: authority.url, authorizationEndpoint: "", tokenEndpoint: "", jwksURI: "")
        metadata.scopesSupported = published
        let asked = ScopeRules.toAuthorize(Scopes(["mail.read"]), extra: Scopes(["files"]), at: metadata)
        let expected = ["openid", "profile"] + (isAsked ? ["offline_access"] : []) + ["mail.read", "files"]
        #expect(asked == Scopes(expected))
    }

    @Test("email that counts as granted is requested in a refresh only if it was granted")
    func refreshOfEmail() {
        func asked(granted: [String], earlier: [String]? = nil, keepsWhole: Bool = false) -> Scopes {
            ScopeRules.toRefresh(
                Scopes(["mail.read", "Email"]), granted: Scopes(granted), earlier: earlier.map { Scopes($0) },
                keepsWhole: keepsWhole)
        }
        #expect(asked(granted: ["openid", "mail.read"]) == Scopes(["openid", "mail.read"]))
        #expect(asked(granted: ["mail.read"], keepsWhole: true) == Scopes(["mail.read"]))
        #expect(asked(granted: ["mail.read", "email"]) == Scopes(["mail.read", "email"]))
        #expect(asked(granted: ["mail.read"], earlier: ["mail.read", "email"]) == Scopes(["mail.read", "email"]))
    }
}

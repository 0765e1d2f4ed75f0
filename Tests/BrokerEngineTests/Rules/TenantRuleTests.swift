import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerTokenCache
import BrokerValues
import Foundation
import Testing

@Suite("Tenants")
struct TenantRuleTests {
    private static let home = "aaaabbbb-0000-cccc-1111-dddd2222eeee"
    private static let guest = "bbbbcccc-1111-dddd-2222-eeee3333ffff"
    private static let uid = "00aa00aa-bb11-cc22-dd33-44ee44ee44ee"

    private static func entra(_ tenant: String = "common") -> Authority {
        Sample.authority("https://login.microsoftonline.com/\(tenant)")
    }

    private static func clientInfo(_ json: String) -> String { Base64URL.encode(Array(json.utf8)) }
    private static let clientInfo = clientInfo(#"{"uid":"\#(uid)","utid":"\#(home)"}"#)

    private static func claims(tenant: String = home, object: String = uid, subject: String = "pairwise")
        -> IDTokenClaims
    {
        IDTokenClaims(
            issuer: "https://login.microsoftonline.com/\(tenant)/v2.0", subject: ExactText(subject),
            all: ["tid": .string(tenant), "oid": .string(object)])
    }

    private static func record(
        _ user: String = "alice", realm: String = home, uid: String = uid, createdAt: NumericDate = Sample.now,
        domains: [String]? = nil
    ) -> AccountRecord {
        var record = AccountRecord(
            group: Sample.app().effectiveGroup, homeAccountID: HomeAccountID(userID: uid, tenantID: home),
            environment: "login.microsoftonline.com", realm: realm, authority: entra(realm).url,
            username: "\(user)@\(realm.prefix(4))", tenantID: realm, claims: ["tid": .string(realm)],
            createdAt: createdAt)
        record.domainNames = domains
        return record
    }

    private static func known(_ records: AccountRecord...) -> KnownAccounts {
        KnownAccounts(records.map(Sample.entry))
    }

    private static var app: AppRegistration {
        AppRegistration(name: "mail", clientID: "client-1", authority: entra())
    }

    // MARK: Accounts

    @Test("client_info names the account's home: uid and utid")
    func clientInfoParts() throws {
        let info = try #require(ClientInfo(Self.clientInfo))
        #expect(info.userID == Self.uid)
        #expect(info.tenantID == Self.home)
        #expect(ClientInfo(Self.clientInfo + "==") == info)
    }

    @Test(
        "client_info without a home in the form of ids is ignored",
        arguments: [
            "", "!!!", clientInfo("[]"), clientInfo("{}"), clientInfo(#"{"uid":"u"}"#),
            clientInfo(#"{"uid":"","utid":"t"}"#), clientInfo(#"{"uid":"a/b","utid":"t"}"#),
            clientInfo(#"{"uid":"a@b","utid":"t"}"#), clientInfo(#"{"uid":"u","utid":"t.v"}"#),
            clientInfo(#"{"uid":7,"utid":"t"}"#),
            clientInfo(#"{"uid":"u","utid":"\#(String(repeating: "t", count: 300))"}"#),
        ])
    func badClientInfo(text: String) { #expect(ClientInfo(text) == nil) }

    @Test("the home account id is uid.utid of client_info, else oid.tid, else subject and issuer")
    func homeAccount() {
        let guest = Self.claims(tenant: Self.guest, object: "other-oid")
        let withInfo = TokenIdentity(guest, clientInfo: Self.clientInfo, at: Self.entra())
        #expect(withInfo.homeAccountID.rawValue == "\(Self.uid).\(Self.home)")
        #expect(withInfo.homeAccountID.homeTenant == Self.home)
        let without = TokenIdentity(guest, clientInfo: nil, at: Self.entra())
        #expect(without.homeAccountID.rawValue == "other-oid.\(Self.guest)")
        let elsewhere = TokenIdentity(guest, clientInfo: Self.clientInfo, at: Sample.authority())
        #expect(elsewhere.homeAccountID == HomeAccountID(subject: guest.subject.text, issuer: guest.issuer.text))
        #expect(elsewhere.homeAccountID.homeTenant == nil)
    }

    @Test("the realm is the ID token's tenant, never common, and elsewhere the authority's path")
    func realm() {
        let upper = Self.claims(tenant: Self.home.uppercased())
        #expect(TokenIdentity(upper, clientInfo: nil, at: Self.entra()).realm == Self.home)
        #expect(TokenIdentity(Self.claims(), clientInfo: nil, at: Sample.authority()).realm == "realm")
        let policy = Sample.authority("https://t.b2clogin.com/tfp/t.onmicrosoft.com/b2c_1_in")
        #expect(TokenIdentity(Self.claims(), clientInfo: nil, at: policy).realm == "tfp/t.onmicrosoft.com/b2c_1_in")
    }

    @Test("a refresh that returns another person's token is refused, at home and in guest tenants")
    func otherPerson() {
        let account = Self.record()
        func refreshed(_ claims: IDTokenClaims, _ info: String?) -> TokenIdentity? {
            TokenIdentity(refreshed: claims, clientInfo: info, of: account, at: Self.entra(Self.guest))
        }
        let other = Self.clientInfo(#"{"uid":"somebody-else","utid":"\#(Self.home)"}"#)
        #expect(refreshed(Self.claims(object: "somebody-else"), nil) == nil)
        #expect(refreshed(Self.claims(tenant: Self.guest), other) == nil)
        let guest = refreshed(Self.claims(tenant: Self.guest, object: "as-guest"), nil)
        #expect(guest?.homeAccountID == account.homeAccountID)
        #expect(guest?.realm == Self.guest)
        #expect(refreshed(Self.claims(), Self.clientInfo)?.realm == Self.home)
    }

    // MARK: Destinations

    @Test("silent requests on common, organizations and consumers go to the account's home tenant")
    func homeTenant() throws {
        let known = Self.known(Self.record(), Self.record(realm: Self.guest))
        for tenant in ["common", "organizations", "consumers"] {
            let entry = try #require(known.entries.first { !$0.isPrimary })
            #expect(TenantRules.realm(at: Self.entra(tenant), for: entry, among: known) == Self.home)
            #expect(TenantRules.destination(of: Self.entra(tenant), for: entry) == Self.entra(Self.home))
        }
    }

    @Test("a tenant's id means that tenant, and its domain name the tenant found for it before")
    func namedTenant() throws {
        let known = Self.known(Self.record(), Self.record(realm: Self.guest, domains: ["fabrikam.example"]))
        let entry = try #require(known.entries.first)
        func realm(_ tenant: String) -> String {
            TenantRules.realm(at: Self.entra(tenant), for: entry, among: known)
        }
        #expect(realm(Self.guest) == Self.guest)
        #expect(realm("Fabrikam.example") == Self.guest)
        #expect(realm("never.seen.example") == "never.seen.example")
        #expect(TenantRules.destination(of: Self.entra(Self.guest), for: entry) == Self.entra(Self.guest))
    }

    @Test("the request's authority is the destination at an issuer without tenants")
    func generic() {
        let entry = Sample.account("alice")
        let known = KnownAccounts([entry])
        #expect(TenantRules.realm(at: Sample.authority(), for: entry, among: known) == "realm")
        #expect(TenantRules.destination(of: Sample.authority(), for: entry) == Sample.authority())
    }

    @Test("an authority named for one request must be of the app's own kind and cloud")
    func override() throws {
        try TenantRules.check(nil, for: Self.app)
        try TenantRules.check(Self.entra(Self.guest), for: Self.app)
        try TenantRules.check(Sample.authority("https://id.example.org/another-realm"), for: Sample.app())
        for other in ["https://login.microsoftonline.us/common", "https://t.ciamlogin.com", "https://id.example"] {
            let error = #expect(throws: BrokerError.self) {
                try TenantRules.check(Sample.authority(other), for: Self.app)
            }
            #expect(error?.kind == .invalidAuthority)
        }
        #expect(throws: BrokerError.self) { try TenantRules.check(Self.entra(), for: Sample.app()) }
    }

    @Test(
        "a public client without tenants stays at its own host, so that no namesake enters its group",
        arguments: ["https://other.example", "https://id.example.org:8443/realm", "https://sub.id.example.org/realm"])
    func overrideOfGenericApp(other: String) {
        let error = #expect(throws: BrokerError.self) {
            try TenantRules.check(Sample.authority(other), for: Sample.app())
        }
        #expect(error?.kind == .invalidAuthority)
    }

    @Test("a client with a secret cannot name another issuer")
    func overrideWithSecret() throws {
        var app = Sample.app()
        app.clientSecret = Secret("s")
        try TenantRules.check(app.authority, for: app)
        for other in ["https://other.example", "https://id.example.org/another-realm"] {
            let error = #expect(throws: BrokerError.self) { try TenantRules.check(Sample.authority(other), for: app) }
            #expect(error?.kind == .invalidAuthority)
        }
        // A tenant's token endpoint is the cloud's own.
        app.authority = Self.entra()
        try TenantRules.check(Self.entra(Self.guest), for: app)
    }

    // MARK: Profiles

    @Test("one person in several tenants is one account, shown with the home tenant's profile")
    func profiles() throws {
        let known = Self.known(
            Self.record(realm: Self.guest, createdAt: 5), Self.record(createdAt: 9), Self.record("bob", uid: "bob"))
        let primaries = known.entries.filter(\.isPrimary)
        #expect(primaries.count == 2)
        let alice = try #require(primaries.first { $0.account.username.hasPrefix("alice") }).account
        #expect(alice.tenantId == Self.home)
        #expect(alice.tenantProfiles?.map(\.tenantId) == [Self.home, Self.guest])
        #expect(alice.tenantProfiles?.map(\.isHomeTenant) == [true, false])
        #expect(alice.tenantProfiles?.last?.claims == ["tid": .string(Self.guest)])
        #expect(known.entries.filter { $0.account == alice }.count == 2)
    }

    @Test("a person who signed in again at one tenant is signed in, in every list and choice")
    func signedInAtOneTenant() {
        var atHome = Self.record()
        (atHome.signedIn, atHome.signedOutAt) = (false, Sample.now)
        let known = Self.known(atHome, Self.record(realm: Self.guest))
        #expect(known.visible(to: Self.app).map(\.signedIn) == [true])
        #expect(known.entries.map(\.account.signedIn) == [true, true])
        switch AccountChoice.choose(nil, from: known, for: Self.app, at: Self.entra(Self.guest)) {
        case .account(let entry): #expect(entry.stored.record.realm == Self.home)
        default: Issue.record("the person is not chosen")
        }
    }

    @Test("a person whose home is not known yet is shown with the tenant's profile")
    func guestOnly() throws {
        let alice = try #require(Self.known(Self.record(realm: Self.guest)).entries.first).account
        #expect(alice.tenantId == Self.guest)
        #expect(alice.tenantProfiles?.map(\.isHomeTenant) == [false])
    }

    @Test("an account of a provider without tenants has no tenant profiles, whatever its claims say")
    func noProfiles() {
        #expect(Sample.account("alice").account.tenantProfiles == nil)
        var record = Self.record()
        record.homeAccountID = HomeAccountID(subject: "s", issuer: "https://id.example")
        #expect(Self.known(record).entries.first?.account.tenantProfiles == nil)
    }

    @Test("an account fits every tenant of its cloud and is chosen once, and is unknown in another cloud")
    func choice() {
        let known = Self.known(Self.record(), Self.record(realm: Self.guest))
        func choose(_ selector: AccountReference?, at authority: Authority) -> String {
            switch AccountChoice.choose(selector, from: known, for: Self.app, at: authority) {
            case .account(let entry): entry.stored.record.realm
            case .unknown: "unknown"
            case .nobody: "nobody"
            case .signedOut: "signed out"
            case .ambiguous: "ambiguous"
            }
        }
        #expect(choose(nil, at: Self.entra()) == Self.home)
        #expect(choose(nil, at: Self.entra(Self.guest)) == Self.home)
        #expect(choose(.username("ALICE@bbbb"), at: Self.entra("third.example")) == Self.home)
        #expect(choose(nil, at: Sample.authority("https://login.microsoftonline.us/common")) == "nobody")
        let policy = Sample.authority("https://login.microsoftonline.com/tfp/t/b2c_1_in")
        #expect(choose(.username("alice@aaaa"), at: policy) == "unknown")
    }

    // MARK: Records

    @Test("tokens requested on common are filed under the tenant that issued them")
    func filing() throws {
        func grant(_ authority: Authority, known: AccountRecord? = nil) throws -> GrantedTokens {
            var response = TokenResponse(accessToken: Secret("at"), idToken: Secret("id"))
            response.clientInfo = Self.clientInfo
            return try #require(
                GrantedTokens(
                    response, claims: Self.claims(), known: known,
                    context: .init(
                        app: Self.app, authority: authority, asked: Scopes(["a"]), sent: Scopes(["a"]),
                        now: Sample.now, defaultLifetime: 3600)))
        }
        let common = try grant(Self.entra())
        #expect(common.account.realm == Self.home)
        #expect(common.accessToken.realm == Self.home)
        #expect(common.idToken?.realm == Self.home)
        #expect(common.account.authority == Self.entra(Self.home).url)
        #expect(common.accessToken.authority == Self.entra(Self.home).url)
        #expect(common.accessToken.owner.environment == "login.microsoftonline.com")
        #expect(common.account.domainNames == nil)
        let named = try grant(Self.entra("contoso.example"), known: common.account)
        #expect(named.account.domainNames == ["contoso.example"])
        #expect(try grant(Self.entra(), known: named.account).account.domainNames == ["contoso.example"])
    }

    @Test("Entra is asked for a new refresh token with every refresh")
    func offlineAccess() {
        let asked = ScopeRules.toRefresh(
            Scopes(["mail.read"]), granted: Scopes(["mail.read"]), at: Self.entra().kind)
        #expect(asked == Scopes(["mail.read", "openid", "profile", "offline_access"]))
    }
}

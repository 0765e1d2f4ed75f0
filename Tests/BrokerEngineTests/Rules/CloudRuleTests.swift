import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerTokenCache
import BrokerValues
import Testing

@Suite("Several clouds")
struct CloudRuleTests {
    private static let government = "login.microsoftonline.us"
    private static let others = CloudTable().clouds(besides: "login.microsoftonline.com")

    private static func entra(_ host: String = "login.microsoftonline.com", _ tenant: String = "common") -> Authority {
        Sample.authority("https://\(host)/\(tenant)")
    }

    private static func app(
        at authority: Authority = entra(), isInstanceAware: Bool = false, secret: String? = nil
    ) -> AppRegistration {
        AppRegistration(
            name: "mail", clientID: "client-1", authority: authority, clientSecret: secret.map { Secret($0) },
            isInstanceAware: isInstanceAware)
    }

    // MARK: Instance awareness

    @Test("instance awareness is off by default, and the request overrides the registration")
    func asked() throws {
        #expect(try !CloudRules.isInstanceAware(asked: nil, for: Self.app()))
        #expect(try CloudRules.isInstanceAware(asked: true, for: Self.app()))
        #expect(try CloudRules.isInstanceAware(asked: nil, for: Self.app(isInstanceAware: true)))
        #expect(try !CloudRules.isInstanceAware(asked: false, for: Self.app(isInstanceAware: true)))
    }

    @Test(
        "instance awareness means nothing at a provider that is not Entra",
        arguments: ["https://id.example", "https://t.ciamlogin.com", "https://t.b2clogin.com/t/p", "https://h/adfs"])
    func entraOnly(authority: String) throws {
        let app = Self.app(at: Sample.authority(authority))
        #expect(try !CloudRules.isInstanceAware(asked: true, for: app))
        #expect(CloudRules.clouds(of: app, isInstanceAware: true, in: CloudTable()).isEmpty)
    }

    @Test("a client secret excludes other clouds, and together they are refused")
    func secret() throws {
        let error = #expect(throws: BrokerError.self) {
            try CloudRules.isInstanceAware(asked: true, for: Self.app(secret: "s"))
        }
        #expect(error?.kind == .invalidParameter)
        #expect(try !CloudRules.isInstanceAware(asked: nil, for: Self.app(secret: "s")))
        #expect(CloudRules.clouds(of: Self.app(secret: "s"), isInstanceAware: true, in: CloudTable()).isEmpty)
        #expect(CloudRules.clouds(of: Self.app(), isInstanceAware: true, in: CloudTable()) == Self.others)
        #expect(CloudRules.clouds(of: Self.app(), isInstanceAware: false, in: CloudTable()).isEmpty)
    }

    @Test(
        "an authority of another cloud of the same kind may be named if the app knows several")
    func override() throws {
        try TenantRules.check(Self.entra(Self.government), for: Self.app(), clouds: Self.others)
        for other in ["https://login.corp.example/common", "https://t.ciamlogin.com", "https://id.example"] {
            #expect(throws: BrokerError.self) {
                try TenantRules.check(Sample.authority(other), for: Self.app(), clouds: Self.others)
            }
        }
        #expect(throws: BrokerError.self) { try TenantRules.check(Self.entra(Self.government), for: Self.app()) }
    }

    // MARK: The redirect

    private func judge(_ query: String, others: Set<String> = others, at authority: Authority = entra()) -> String {
        var expected = RedirectCheck.Expectation(
            state: "s", issuer: "https://login.microsoftonline.com/{tenantid}/v2.0", requiresIssuer: false)
        if authority.rules.hasClouds {
            expected.clouds = CloudExpectation(authority: authority, others: others)
        }
        switch RedirectCheck.judge(RedirectParameters(query: query[...]), against: expected) {
        case .code(let code): return "code at \(code.cloud?.url ?? "own") by \(code.issuer ?? "-")"
        case .otherCloud(let host): return "refused: \(host)"
        case .refused(let refusal): return refusal.error
        case .foreign: return "foreign"
        case .unacceptable(.otherIssuer): return "otherIssuer"
        case .unacceptable(let why): return "\(why)"
        }
    }

    @Test("the code belongs to the known cloud that the redirect names")
    func named() {
        #expect(
            judge(
                "code=c&state=s&cloud_instance_host_name=login.microsoftonline.us&cloud_instance_name=x&client_info=y")
                == "code at https://login.microsoftonline.us/common by -")
        #expect(judge("code=c&state=s&cloud_instance_host_name=login.microsoftonline.com") == "code at own by -")
        #expect(judge("code=c&state=s") == "code at own by -")
    }

    @Test("an unknown or unrequested cloud ends the sign-in")
    func refused() {
        #expect(judge("code=c&state=s&cloud_instance_host_name=evil.example") == "refused: evil.example")
        #expect(judge("code=c&state=s&cloud_instance_host_name=evil%0A.example") == "refused: evil.example")
        let government = "code=c&state=s&cloud_instance_host_name=login.microsoftonline.us"
        #expect(judge(government, others: []) == "refused: login.microsoftonline.us")
    }

    @Test("a redirect without the state cannot name a cloud, and one with two clouds is refused")
    func foreign() {
        #expect(judge("code=c&state=x&cloud_instance_host_name=evil.example") == "foreign")
        #expect(
            judge(
                "code=c&state=s&cloud_instance_host_name=evil.example&cloud_instance_host_name=login.microsoftonline.us"
            )
                == "repeatedParameter")
        #expect(judge("state=s&cloud_instance_host_name=evil.example") == "neitherCodeNorError")
    }

    @Test("an error is accepted, whatever cloud it names")
    func errors() {
        #expect(judge("error=access_denied&state=s&cloud_instance_host_name=evil.example") == "access_denied")
    }

    @Test("the cloud parameter means nothing at a provider without clouds")
    func plain() {
        let plain = Sample.authority()
        #expect(judge("code=c&state=s&cloud_instance_host_name=evil.example", at: plain) == "code at own by -")
    }

    @Test("an issuer in the redirect must be the requested cloud's or match the named one")
    func issuers() {
        let us = "https://login.microsoftonline.us/t/v2.0"
        #expect(judge("code=c&state=s&iss=\(us)") == "otherIssuer")
        #expect(judge("code=c&state=s&iss=\(us)&cloud_instance_host_name=evil.example") == "otherIssuer")
        #expect(
            judge("code=c&state=s&iss=\(us)&cloud_instance_host_name=login.microsoftonline.us", others: [])
                == "otherIssuer")
        #expect(
            judge("code=c&state=s&iss=\(us)&cloud_instance_host_name=login.microsoftonline.us")
                == "code at https://login.microsoftonline.us/common by \(us)")
    }

    private func metadata(
        tokenEndpoint: String = "https://login.microsoftonline.us/common/oauth2/v2.0/token",
        promisesIssuer: Bool = false
    ) -> ProviderMetadata {
        ProviderMetadata(
            authority: Self.entra(Self.government), issuer: "https://login.microsoftonline.us/{tenantid}/v2.0",
            authorizationEndpoint: "https://login.microsoftonline.us/a", tokenEndpoint: tokenEndpoint,
            jwksURI: "https://login.microsoftonline.us/k", promisesIssuerInResponse: promisesIssuer)
    }

    @Test("the named cloud must be the issuer that the redirect names (RFC 9207)")
    func issuerOfTheCloud() throws {
        try CloudRules.check(metadata(), issuer: nil)
        try CloudRules.check(metadata(), issuer: "https://login.microsoftonline.us/t/v2.0")
        try CloudRules.check(metadata(promisesIssuer: true), issuer: "https://login.microsoftonline.us/t/v2.0")
        for (issuer, promises) in [("https://login.microsoftonline.com/t/v2.0", false), (nil, true), ("", true)] {
            let error = #expect(throws: BrokerError.self) {
                try CloudRules.check(metadata(promisesIssuer: promises), issuer: issuer)
            }
            #expect(error?.kind == .invalidResponse)
        }
    }

    @Test(
        "a cloud's token endpoint must be its own, so that no other host gets a code or verifier",
        arguments: ["https://evil.example/token", "https://login.microsoftonline.com/token", "not a URL"])
    func tokenEndpoint(url: String) throws {
        let error = #expect(throws: BrokerError.self) {
            try CloudRules.check(metadata(tokenEndpoint: url), issuer: nil)
        }
        #expect(error?.kind == .invalidResponse)
        try CloudRules.check(metadata(tokenEndpoint: "https://login.usgovcloudapi.net/token?x=1"), issuer: nil)
    }

    @Test("a code or refresh token for another cloud than the app's goes only to that cloud's own host")
    func destinationHost() throws {
        var elsewhere = metadata(tokenEndpoint: "https://evil.example/token")
        try CloudRules.check(metadata(), for: Self.app())
        let error = #expect(throws: BrokerError.self) { try CloudRules.check(elsewhere, for: Self.app()) }
        #expect(error?.kind == .invalidResponse)
        // The app's own provider is trusted; so is an issuer without clouds, whose endpoints may be anywhere.
        try CloudRules.check(elsewhere, for: Self.app(at: Self.entra(Self.government)))
        elsewhere.authority = Sample.authority("https://id.example")
        try CloudRules.check(elsewhere, for: Self.app(at: Sample.authority("https://other.example")))
    }

    @Test("an app reaches the issuers where its client may have been used, not their neighbours on the host")
    func reach() {
        func reaches(_ place: String, from app: AppRegistration) -> Bool {
            CloudRules.reaches(Sample.authority(place), from: app, in: CloudTable())
        }
        let realm = Self.app(at: Sample.authority("https://id.example/realms/a"))
        #expect(reaches("https://id.example/realms/a", from: realm))
        #expect(!reaches("https://id.example/realms/b", from: realm))
        #expect(!reaches("https://other.example/realms/a", from: realm))
        #expect(reaches("https://login.microsoftonline.com/\(Self.tenant)", from: Self.app()))
        #expect(reaches("https://login.microsoftonline.us/\(Self.tenant)", from: Self.app()))
        #expect(!reaches("https://login.microsoftonline.us/\(Self.tenant)", from: Self.app(secret: "s")))
        #expect(!reaches("https://login.microsoftonline.com/tfp/contoso/b2c_1_in", from: Self.app()))
        let policy = Self.app(at: Sample.authority("https://t.b2clogin.com/t/b2c_1_in"))
        #expect(reaches("https://t.b2clogin.com/t/b2c_1_in", from: policy))
        #expect(!reaches("https://t.b2clogin.com/t/b2c_1_edit", from: policy))
    }

    // MARK: Accounts

    private static func account(_ name: String, in host: String, signedIn: Bool = true) -> KnownAccount {
        Sample.entry(
            AccountRecord(
                group: app().effectiveGroup, homeAccountID: HomeAccountID(userID: name, tenantID: tenant),
                environment: host, realm: tenant, authority: entra(host, tenant).url, username: name,
                tenantID: tenant, signedIn: signedIn, createdAt: Sample.now))
    }
    private static let tenant = "aaaabbbb-0000-cccc-1111-dddd2222eeee"

    private func choose(
        _ selector: AccountReference?, _ accounts: [KnownAccount], others: Set<String>
    ) -> String {
        let known = KnownAccounts(accounts)
        switch AccountChoice.choose(selector, from: known, for: Self.app(), at: Self.entra(), otherClouds: others) {
        case .account(let entry): return "\(entry.account.username) at \(entry.account.environment)"
        case .unknown: return "unknown"
        case .nobody: return "nobody"
        case .signedOut: return "signed out"
        case .ambiguous: return "ambiguous"
        }
    }

    @Test("an account of another cloud fits only if the app knows several")
    func choice() {
        let ann = Self.account("ann", in: Self.government)
        #expect(choose(nil, [ann], others: Self.others) == "ann at login.microsoftonline.us")
        #expect(choose(.username("ann"), [ann], others: Self.others) == "ann at login.microsoftonline.us")
        #expect(choose(nil, [ann], others: []) == "nobody")
        #expect(choose(.username("ann"), [ann], others: []) == "unknown")
        let bob = Self.account("bob", in: "login.microsoftonline.com")
        #expect(choose(nil, [ann, bob], others: Self.others) == "ambiguous")
        #expect(choose(nil, [ann, bob], others: []) == "bob at login.microsoftonline.com")
        #expect(choose(nil, [Self.account("eve", in: "login.corp.example")], others: Self.others) == "nobody")
    }

    @Test("a refresh goes to the account's own cloud, in its home tenant or the requested one")
    func destination() {
        let ann = Self.account("ann", in: Self.government)
        #expect(TenantRules.destination(of: Self.entra(), for: ann) == Self.entra(Self.government, Self.tenant))
        let guest = Self.entra("login.microsoftonline.com", "contoso.example")
        #expect(TenantRules.destination(of: guest, for: ann) == Self.entra(Self.government, "contoso.example"))
    }

    @Test("a sign-out in another cloud asks for the password again")
    func login() {
        let known = KnownAccounts([Self.account("ann", in: Self.government, signedIn: false)])
        let (app, authority) = (Self.app(), Self.entra())
        #expect(PromptRule.isEverybodySignedOut(among: known, for: app, at: authority, otherClouds: Self.others))
        #expect(!PromptRule.isEverybodySignedOut(among: known, for: app, at: authority))
    }
}

import BrokerModel
import Testing

@Suite("The kind of an authority")
struct AuthorityKindTests {
    private func parse(_ text: String, kinds: [String: ProviderKind] = [:]) throws -> Authority {
        try Authority(parsing: text, allowHTTPLoopback: true, kinds: kinds)
    }

    private static let tenantID = "aaaabbbb-0000-cccc-1111-dddd2222eeee"

    @Test(
        "Entra: aliases of a cloud and spellings of a URL give the same authority",
        arguments: [
            "https://login.microsoftonline.com/common", "https://login.windows.net/common/",
            "https://login.microsoft.com/Common/v2.0", "https://sts.windows.net/common/v2.0/",
            "https://LOGIN.microsoftonline.com:443/common/V2.0",
        ])
    func entraAliases(text: String) throws {
        let authority = try parse(text)
        #expect(authority.url == "https://login.microsoftonline.com/common")
        #expect(authority.environment == "login.microsoftonline.com")
        #expect(authority.kind == .entra && authority.tenant == .common)
        #expect(try authority == parse("https://login.microsoftonline.com/common"))
        #expect(authority.isNamed(by: text))
    }

    @Test("an authority is named by all spellings of its own URL, and by no other")
    func named() throws {
        let entra = try parse("https://login.microsoftonline.com/\(Self.tenantID)/v2.0")
        #expect(entra.isNamed(by: "https://login.microsoftonline.com/\(Self.tenantID)/v2.0"))
        #expect(!entra.isNamed(by: "https://login.microsoftonline.com/common/v2.0"))
        let generic = try parse("https://id.example.org/realms/a")
        for text in ["https://ID.Example.org:443/realms/a/", "https://id.example.org/realms/a"] {
            #expect(generic.isNamed(by: text))
        }
        for text in [
            "https://id.example.org/realms/A", "https://id.example.org/", "http://id.example.org/realms/a", "a", "",
        ] {
            #expect(!generic.isNamed(by: text))
        }
        let kinds = ["id.example.org": ProviderKind.entra]
        #expect(
            try parse("https://id.example.org/common", kinds: kinds).isNamed(by: "https://id.example.org/common/v2.0"))
    }

    @Test(
        "Entra: common, organizations, consumers, tenant id and domain are distinguished",
        arguments: [
            ("common", Tenant.common), ("organizations", .organizations), ("consumers", .consumers),
            (tenantID.uppercased(), .id(tenantID)), ("Contoso.onmicrosoft.com", .domain("contoso.onmicrosoft.com")),
        ])
    func entraTenants(name: String, tenant: Tenant) throws {
        let authority = try parse("https://login.microsoftonline.com/\(name)")
        #expect(authority.kind == .entra && authority.tenant == tenant)
        #expect(authority.path == name.lowercased())
    }

    @Test(
        "Entra: each cloud has its own environment",
        arguments: [
            ("login.microsoftonline.us", "login.microsoftonline.us"),
            ("login.usgovcloudapi.net", "login.microsoftonline.us"),
            ("login-us.microsoftonline.com", "login-us.microsoftonline.com"),
            ("login.chinacloudapi.cn", "login.partner.microsoftonline.cn"),
            ("login.partner.microsoftonline.cn", "login.partner.microsoftonline.cn"),
            ("login.microsoftonline.de", "login.microsoftonline.de"),
            ("login.sovcloud-identity.fr", "login.sovcloud-identity.fr"),
            ("login.sovcloud-identity.de", "login.sovcloud-identity.de"),
            ("login.sovcloud-identity.sg", "login.sovcloud-identity.sg"),
        ])
    func clouds(host: String, environment: String) throws {
        let authority = try parse("https://\(host)/organizations")
        #expect(authority.environment == environment)
        #expect(authority.kind == .entra && authority.tenant == .organizations)
    }

    @Test(
        "Entra: an authority without a tenant, or with more than one, is refused",
        arguments: [
            ("https://login.microsoftonline.com", InvalidAuthority.tenantMissing),
            ("https://login.microsoftonline.com/v2.0", .tenantMissing),
            ("https://login.microsoftonline.com/common/oauth2/v2.0/authorize", .notATenant),
            ("https://login.microsoftonline.com/common/oauth2", .notATenant),
            ("https://login.microsoftonline.com/../v2.0", .notATenant),
            ("https://login.microsoftonline.com/ten%61nt", .notATenant),
        ])
    func entraInvalid(text: String, error: InvalidAuthority) {
        #expect(throws: error) { try parse(text) }
    }

    @Test("a host that only looks like Entra's is a generic issuer")
    func lookalikes() throws {
        for host in ["login.microsoftonline.com.evil.example", "xlogin.microsoftonline.com", "evilb2clogin.com"] {
            #expect(try parse("https://\(host)/common").kind == .generic)
        }
        #expect(try parse("https://login.microsoftonline.com:8443/common").kind == .generic)
    }

    @Test("B2C: the policy is part of the authority, with or without tfp")
    func b2c() throws {
        let authority = try parse("https://Contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/B2C_1_SignIn/v2.0")
        #expect(authority.kind == .b2c && authority.tenant == nil)
        #expect(authority.url == "https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/b2c_1_signin")
        let plain = try parse("https://contoso.b2clogin.com/Contoso.onmicrosoft.com/B2C_1_edit")
        #expect(plain.kind == .b2c && plain.path == "contoso.onmicrosoft.com/b2c_1_edit")
        let atEntra = try parse("https://login.microsoftonline.com/tfp/contoso.onmicrosoft.com/b2c_1_edit")
        #expect(atEntra.kind == .b2c && atEntra.path == "tfp/contoso.onmicrosoft.com/b2c_1_edit")
        #expect(try parse("https://login.contoso.example/tfp/contoso.onmicrosoft.com/b2c_1_edit").kind == .b2c)
        for text in ["https://contoso.b2clogin.com", "https://contoso.b2clogin.com/contoso.onmicrosoft.com"] {
            #expect(throws: InvalidAuthority.policyMissing) { try parse(text) }
        }
    }

    @Test("CIAM: the host alone determines the tenant")
    func ciam() throws {
        let authority = try parse("https://contoso.ciamlogin.com/")
        #expect(authority.url == "https://contoso.ciamlogin.com/contoso.onmicrosoft.com")
        #expect(authority.kind == .ciam && authority.tenant == .domain("contoso.onmicrosoft.com"))
        let named = try parse("https://contoso.ciamlogin.com/\(Self.tenantID)/v2.0")
        #expect(named.kind == .ciam && named.tenant == .id(Self.tenantID))
        // Its hosts have no policies, regardless of the path.
        #expect(throws: InvalidAuthority.notATenant) { try parse("https://contoso.ciamlogin.com/tfp/a/b") }
    }

    @Test("ADFS: the path determines the kind")
    func adfs() throws {
        #expect(try parse("https://fs.contoso.example/adfs/").kind == .adfs)
        #expect(try parse("https://fs.contoso.example/ADFS").url == "https://fs.contoso.example/adfs")
        #expect(try parse("https://fs.contoso.example/adfs/realm").kind == .generic)
    }

    @Test("the administrator's kind for a host overrides the kind of its URL")
    func overrides() throws {
        let kinds: [String: ProviderKind] = ["127.0.0.1:4000": .entra, "fs.example": .generic, "id.example": .adfs]
        let local = try parse("http://127.0.0.1:4000/Contoso/v2.0", kinds: kinds)
        #expect(local.kind == .entra && local.tenant == .domain("contoso"))
        #expect(local.url == "http://127.0.0.1:4000/contoso")
        #expect(local.environment == "127.0.0.1:4000")
        #expect(try parse("http://127.0.0.1:4001/contoso", kinds: kinds).kind == .generic)
        #expect(try parse("https://fs.example/adfs", kinds: kinds).kind == .generic)
        #expect(throws: InvalidAuthority.notADFS) { try parse("https://id.example/x", kinds: kinds) }
    }

    @Test("changing the tenant keeps the rest of the authority")
    func otherTenant() throws {
        let common = try parse("http://127.0.0.1:4000/common", kinds: ["127.0.0.1:4000": .entra])
        let home = common.tenant(Self.tenantID.uppercased())
        #expect(home.url == "http://127.0.0.1:4000/\(Self.tenantID)")
        #expect(home.kind == .entra && home.tenant == .id(Self.tenantID))
        #expect(home.environment == common.environment)
        let generic = try parse("https://id.example/realm")
        #expect(generic.tenant("x") == generic)
    }
}

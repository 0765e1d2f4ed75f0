import BrokerModel
import BrokerValues
import Testing

@Suite("Issuers of a kind")
struct IssuerRuleTests {
    private static let tenant = "aaaabbbb-0000-cccc-1111-dddd2222eeee"
    private static let other = "bbbbcccc-1111-dddd-2222-eeee3333ffff"
    private static let cloud = "https://login.microsoftonline.com"
    private static let template = cloud + "/{tenantid}/v2.0"

    private func rule(_ issuer: String, at authority: String, kinds: [String: ProviderKind] = [:]) throws -> IssuerRule?
    {
        IssuerRule(issuer, of: try Authority(parsing: authority, allowHTTPLoopback: true, kinds: kinds))
    }

    @Test("Entra: a template accepts the token's own tenant, and no other issuer")
    func template() throws {
        for authority in ["common", "organizations", "consumers", "contoso.example"] {
            let rule = try #require(try rule(Self.template, at: Self.cloud + "/" + authority))
            #expect(rule.accepts("\(Self.cloud)/\(Self.tenant)/v2.0", tenant: Self.tenant))
            #expect(!rule.accepts("\(Self.cloud)/\(Self.other)/v2.0", tenant: Self.tenant))
            #expect(!rule.accepts("\(Self.cloud)/\(Self.tenant)/v2.0", tenant: nil))
            #expect(!rule.accepts(ExactText(Self.template), tenant: Self.tenant))
            #expect(!rule.accepts(ExactText(Self.template), tenant: "{tenantid}"))
            #expect(!rule.accepts("https://evil.example/\(Self.tenant)/v2.0", tenant: Self.tenant))
            #expect(!rule.accepts("\(Self.cloud)/a/b/v2.0", tenant: "a/b"))
        }
    }

    @Test("Entra: an authority of one tenant accepts that tenant's tokens only")
    func tenantID() throws {
        for issuer in [Self.template, "\(Self.cloud)/\(Self.tenant)/v2.0"] {
            let rule = try #require(try rule(issuer, at: "\(Self.cloud)/\(Self.tenant)"))
            #expect(rule.accepts("\(Self.cloud)/\(Self.tenant)/v2.0", tenant: Self.tenant))
            #expect(!rule.accepts("\(Self.cloud)/\(Self.other)/v2.0", tenant: Self.other))
            #expect(!rule.accepts("\(Self.cloud)/\(Self.tenant)/v2.0", tenant: Self.other))
        }
        #expect(try rule("\(Self.cloud)/\(Self.other)/v2.0", at: "\(Self.cloud)/\(Self.tenant)") == nil)
    }

    @Test("Entra: a domain's document names the tenant by its id")
    func domain() throws {
        let rule = try #require(
            try rule("\(Self.cloud)/\(Self.tenant)/v2.0", at: "https://login.windows.net/contoso.example"))
        #expect(rule.accepts("\(Self.cloud)/\(Self.tenant)/v2.0", tenant: Self.tenant))
        #expect(!rule.accepts("\(Self.cloud)/\(Self.tenant)/v2.0", tenant: Self.other))
    }

    @Test(
        "Entra: a document of another cloud or host, or without a tenant, is rejected",
        arguments: [
            "https://login.microsoftonline.us/{tenantid}/v2.0", "https://evil.example/{tenantid}/v2.0",
            "https://login.microsoftonline.com.evil.example/{tenantid}/v2.0",
            "https://login.microsoftonline.com/v2.0/x",
            "http://login.microsoftonline.com/{tenantid}/v2.0", "https://login.microsoftonline.com", "", "x",
            "https://login.microsoftonline.com/{tenantid}/v2.0/{tenantid}",
        ])
    func otherCloud(issuer: String) throws {
        #expect(try rule(issuer, at: Self.cloud + "/common") == nil)
    }

    @Test("B2C and ADFS: the issuer is on the authority's own host, and exact in tokens")
    func ownHost() throws {
        let policy = "https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/b2c_1_in"
        let issuer = "https://contoso.b2clogin.com/\(Self.tenant)/v2.0/"
        let rule = try #require(try self.rule(issuer, at: policy))
        #expect(rule.accepts(ExactText(issuer), tenant: nil))
        #expect(!rule.accepts("https://contoso.b2clogin.com/\(Self.tenant)/v2.0", tenant: nil))
        #expect(try self.rule("https://fabrikam.b2clogin.com/\(Self.tenant)/v2.0/", at: policy) == nil)
        #expect(try self.rule("https://fs.example/adfs", at: "https://fs.example/adfs") != nil)
        #expect(try self.rule("https://other.example/adfs", at: "https://fs.example/adfs") == nil)
    }

    @Test("CIAM: the issuer may be on the host that is named by the tenant's id")
    func ciam() throws {
        let authority = "https://contoso.ciamlogin.com"
        let issuer = "https://\(Self.tenant).ciamlogin.com/\(Self.tenant)/v2.0"
        let rule = try #require(try self.rule(issuer, at: authority))
        #expect(rule.accepts(ExactText(issuer), tenant: Self.tenant))
        #expect(!rule.accepts(ExactText(issuer), tenant: Self.other))
        #expect(try self.rule("https://\(Self.other).ciamlogin.com/\(Self.tenant)/v2.0", at: authority) == nil)
        #expect(try self.rule("https://fabrikam.ciamlogin.com/\(Self.tenant)/v2.0", at: authority) == nil)
    }

    @Test("any other issuer is the authority itself, and exact in tokens")
    func generic() throws {
        let rule = try #require(try rule("https://id.example/realm/", at: "https://id.example/realm"))
        #expect(rule.accepts("https://id.example/realm/", tenant: nil))
        #expect(!rule.accepts("https://id.example/realm", tenant: nil))
        #expect(try self.rule("https://id.example/other", at: "https://id.example/realm") == nil)
    }

    @Test("a redirect may name any tenant of a template, otherwise only the issuer itself")
    func redirects() {
        #expect(IssuerRule.isSame("\(Self.cloud)/\(Self.tenant)/v2.0", as: Self.template))
        #expect(!IssuerRule.isSame("\(Self.cloud)/v2.0", as: Self.template))
        #expect(!IssuerRule.isSame("\(Self.cloud)//v2.0", as: Self.template))
        #expect(!IssuerRule.isSame("\(Self.cloud)/a/b/v2.0", as: Self.template))
        #expect(!IssuerRule.isSame("https://evil.example/\(Self.tenant)/v2.0", as: Self.template))
        #expect(IssuerRule.isSame("https://id.example", as: "https://id.example"))
        #expect(!IssuerRule.isSame("https://id.example/", as: "https://id.example"))
        // The Kelvin sign, which Swift's strings compare equal to K.
        #expect(!IssuerRule.isSame("https://id.example/\u{212A}", as: "https://id.example/K"))
        #expect(!IssuerRule.isSame("https://id.example/\u{212A}/t", as: "https://id.example/K/{tenantid}"))
    }

    @Test("the issuer may lack its scheme for Google only")
    func google() throws {
        let google = try #require(try rule("https://accounts.google.com", at: "https://accounts.google.com"))
        #expect(google.accepts("accounts.google.com", tenant: nil))
        #expect(google.full("accounts.google.com") == "https://accounts.google.com")
        #expect(
            !google.accepts("id.example", tenant: nil) && !google.accepts("http://accounts.google.com", tenant: nil))
        let other = try #require(try rule("https://id.example", at: "https://id.example"))
        #expect(!other.accepts("id.example", tenant: nil) && !other.accepts("accounts.google.com", tenant: nil))
    }
}

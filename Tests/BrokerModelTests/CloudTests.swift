import BrokerModel
import Testing

@Suite("Clouds that belong together")
struct CloudTests {
    private static let own = "login.microsoftonline.com"
    private static let government = "login.microsoftonline.us"

    private func authority(_ text: String = "https://login.microsoftonline.com/common") throws -> Authority {
        try Authority(parsing: text, allowHTTPLoopback: true)
    }

    private func answer(_ host: String?, others: Set<String>? = nil) throws -> CloudExpectation.Answer {
        let others = others ?? CloudTable().clouds(besides: Self.own)
        return CloudExpectation(authority: try authority(), others: others).cloud(named: host)
    }

    @Test("Microsoft's clouds belong together, and a host that is not a cloud has no others")
    func table() {
        let others = CloudTable().clouds(besides: Self.own)
        #expect(others.count == 7)
        #expect(others.isSuperset(of: [Self.government, "login.partner.microsoftonline.cn"]))
        #expect(!others.contains(Self.own))
        #expect(CloudTable().clouds(besides: "id.example").isEmpty)
        #expect(CloudTable().clouds(besides: "contoso.ciamlogin.com").isEmpty)
    }

    @Test("an added cloud applies to its host only, in one direction")
    func added() {
        let table = CloudTable(["login.corp.example": ["login.lab.example"], Self.own: ["login.new.example"]])
        #expect(table.clouds(besides: "login.corp.example") == ["login.lab.example"])
        #expect(table.clouds(besides: "login.lab.example").isEmpty)
        #expect(table.clouds(besides: Self.own).count == 8)
        #expect(!table.clouds(besides: Self.government).contains("login.new.example"))
        #expect(
            CloudTable(["a.example": ["a.example"]]).clouds(besides: "a.example").isEmpty, "nobody is another cloud")
    }

    @Test("all aliases of a cloud have one canonical name, ignoring case, and other hosts keep theirs")
    func canonical() {
        #expect(EntraCloud.canonical("STS.windows.net") == Self.own)
        #expect(EntraCloud.canonical("login.usgovcloudapi.net") == Self.government)
        #expect(EntraCloud.canonical(Self.own) == Self.own)
        #expect(EntraCloud.canonical("ID.example:8443") == "id.example:8443")
        #expect(EntraCloud.environment(of: "id.example") == nil)
    }

    @Test("a known cloud is accepted under any of its names, with the requested tenant")
    func known() throws {
        let expected = CloudExpectation.Answer.other(try authority("https://login.microsoftonline.us/common"))
        for host in [Self.government, "LOGIN.MicrosoftOnline.US", "login.usgovcloudapi.net"] {
            #expect(try answer(host) == expected, "\(host)")
        }
    }

    @Test("no name, an empty name and any alias mean the cloud of the request")
    func ownCloud() throws {
        for host in [nil, "", Self.own, "login.windows.net", "STS.windows.net"] {
            #expect(try answer(host) == .own)
            #expect(try answer(host, others: []) == .own)
        }
    }

    @Test(
        "a name that only resembles a known cloud is rejected",
        arguments: [
            "evil.example", "login.microsoftonline.us.evil.example", "evil.example/login.microsoftonline.us",
            "login.microsoftonline.us@evil.example", "evil@login.microsoftonline.us",
            "https://login.microsoftonline.us",
            "login.microsoftonline.us/", "login.microsoftonline.us:443", "login.microsoftonline.us:8443",
            "login.microsoftonline.us.", " login.microsoftonline.us", "login.microsoftonline.us\u{0}",
            "microsoftonline.us",
            "login.microsoftonline.us#", "login.microsoftonline.us?", "127.0.0.1", "contoso.ciamlogin.com",
            "contoso.b2clogin.com", "login.mıcrosoftonline.us",
        ])
    func lookalikes(host: String) throws {
        #expect(try answer(host) == .stranger)
    }

    @Test("a cloud outside the allowed set is rejected, even if it is known")
    func notAllowed() throws {
        #expect(try answer(Self.government, others: []) == .stranger)
        #expect(try answer(Self.government, others: ["login.microsoftonline.de"]) == .stranger)
    }

    @Test("changing the cloud keeps tenant and scheme, and does not affect kinds without clouds")
    func moved() throws {
        let tenant = try authority("https://login.microsoftonline.com/contoso.example").cloud(Self.government)
        #expect(tenant == (try authority("https://login.microsoftonline.us/contoso.example")))
        #expect(tenant.environment == Self.government)
        let loopback = try Authority(
            parsing: "http://127.0.0.1:4000/common", allowHTTPLoopback: true, kinds: ["127.0.0.1:4000": .entra])
        #expect(loopback.cloud("127.0.0.1:4001").url == "http://127.0.0.1:4001/common")
        for other in ["https://id.example/realm", "https://t.ciamlogin.com", "https://t.b2clogin.com/t/p"] {
            #expect(try authority(other).cloud(Self.government) == authority(other))
        }
    }
}

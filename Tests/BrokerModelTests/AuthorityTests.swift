import BrokerModel
import Testing

@Suite("An authority")
struct AuthorityTests {
    private func parse(_ text: String, allowHTTPLoopback: Bool = false) throws -> Authority {
        try Authority(parsing: text, allowHTTPLoopback: allowHTTPLoopback)
    }

    @Test(
        "an authority's spelling is normalized",
        arguments: [
            "https://login.example/tenant", "HTTPS://Login.Example/tenant/", "https://login.example:443/tenant",
            "https://login.example//tenant///",
        ])
    func oneSpelling(text: String) throws {
        let authority = try parse(text)
        #expect(authority.url == "https://login.example/tenant")
        #expect(authority.environment == "login.example")
        #expect(authority.path == "tenant")
        #expect(try authority == parse("https://login.example/tenant"))
        #expect(!authority.isPlainHTTP)
    }

    @Test("case of the path, port and host distinguish authorities")
    func distinct() throws {
        let authorities = try [
            "https://login.example", "https://login.example/Tenant", "https://login.example/tenant",
            "https://login.example/tenant/sub", "https://login.example:8443/tenant", "https://login.example:80/tenant",
            "https://login.example.evil/tenant",
        ].map { try parse($0) }
        #expect(Set(authorities).count == authorities.count)
        #expect(Set(authorities.map(\.url)).count == authorities.count)
        #expect(authorities[0].path == "")
        #expect(authorities[0].url == "https://login.example")
        #expect(authorities[4].environment == "login.example:8443")
    }

    @Test(
        "plain http is accepted for loopback only, and only if allowed",
        arguments: [
            "http://127.0.0.1", "http://127.0.0.1:4593/api", "http://127.0.0.1/", "http://localhost:80/x",
            "http://LOCALHOST:8080", "http://[::1]:9000/o", "http://[::1]",
        ])
    func loopback(text: String) throws {
        #expect(throws: InvalidAuthority.httpLoopbackNotAllowed) { try parse(text) }
        let authority = try parse(text, allowHTTPLoopback: true)
        #expect(authority.isPlainHTTP)
        #expect(try parse(authority.url, allowHTTPLoopback: true) == authority)
    }

    @Test(
        "plain http is refused for other hosts, including those that look like loopback",
        arguments: [
            "http://login.example", "http://127.0.0.1.evil.example", "http://localhost.evil.example", "http://127.1",
            "http://0.0.0.0", "http://127.0.0.2", "http://127.255.1.9:80", "http://127.0.0.256", "http://127.0.0",
            "http://128.0.0.1", "http://127.0.0.0x1",
            "http://localhost.", "http://[::2]", "http://[::ffff:127.0.0.1]", "http://127.0.0.1.", "http://2130706433",
            "http://idp.localhost:8080",
        ])
    func otherHTTP(text: String) {
        #expect(throws: InvalidAuthority.plainHTTP) { try parse(text, allowHTTPLoopback: true) }
        #expect(throws: InvalidAuthority.plainHTTP) { try parse(text) }
    }

    @Test(
        "an authority with anything beyond scheme, host, port and path is refused",
        arguments: [
            ("https://login.example?x=1", InvalidAuthority.hasQueryOrFragment),
            ("https://login.example/tenant?", .hasQueryOrFragment), ("https://login.example#top", .hasQueryOrFragment),
            ("https://user@login.example", .hasUserInfo), ("https://user:secret@login.example/x", .hasUserInfo),
            ("https://good.example@evil.example", .hasUserInfo),
        ])
    func extras(text: String, error: InvalidAuthority) {
        #expect(throws: error) { try parse(text) }
    }

    @Test(
        "an authority that is not a web URL is refused",
        arguments: [
            "", "login.example", "//login.example", "https:login.example", "https:/login.example", "https://",
            "https:///tenant", "https://:443", "ftp://login.example", "file:///etc/passwd", "javascript://x",
            " https://login.example", "https://login.example ", "https://login example", "https://login.example/a b",
            "https://login.example\\@evil.example", "https://login.example/\n", "https://l\u{F6}gin.example",
            "https://login.example/\u{E4}", "https://login.example:", "https://login.example:0",
            "https://login.example:65536", "https://login.example:+443", "https://login.example:-1",
            "https://login.example:44x", "https://login.example:1:2", "https://[::1", "https://::1", "https://[]",
            "https://[login.example]", "https://[::1]x", "https://login%2eexample",
            "https://login.example,evil.example",
            "https://.login.example", "https://log*in.example", "http://127.0.0.+1", "https://[::1]443",
        ])
    func notAURL(text: String) {
        #expect(throws: InvalidAuthority.notAURL) { try parse(text, allowHTTPLoopback: true) }
    }

    @Test("an IPv6 address is accepted, with and without port")
    func ipv6() throws {
        #expect(try parse("https://[2001:DB8::7]:8443/t").environment == "[2001:db8::7]:8443")
        #expect(try parse("https://[2001:db8::7]").environment == "[2001:db8::7]")
        #expect(try parse("https://[2001:db8::7]:443/").url == "https://[2001:db8::7]")
    }
}

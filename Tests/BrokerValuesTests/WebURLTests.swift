import BrokerValues
import Testing

/// The common rules of valid URLs: for authorities, endpoints, redirects and browsers.
@Suite("A URL of the web")
struct WebURLTests {
    @Test("scheme, host, port and path are parsed")
    func parts() throws {
        let url = try #require(WebURL("HTTPS://Login.Example:8443/Tenant/?a=1&b=#top"))
        #expect(url.isSecure && url.host == "login.example" && url.port == 8443 && url.path == "/Tenant/")
        #expect(url.hasQuery && url.hasFragment && !url.isLoopback)
        #expect(url.origin == "https://login.example:8443" && url.server == "login.example:8443")
        #expect(url.text == "HTTPS://Login.Example:8443/Tenant/?a=1&b=#top")
        let bare = try #require(WebURL("http://[::1]#x?y"))
        #expect(!bare.isSecure && bare.host == "[::1]" && bare.port == nil && bare.path.isEmpty)
        #expect(!bare.hasQuery && bare.hasFragment && bare.isLoopback && bare.isSafeToRequest)
    }

    @Test(
        "the origin leaves out the scheme's default port",
        arguments: [
            ("https://a:443/x", "https://a"), ("http://a:80", "http://a"), ("https://a:80", "https://a:80"),
            ("http://a:443", "http://a:443"), ("https://a:0443", "https://a"),
        ])
    func origin(text: String, origin: String) {
        #expect(WebURL(text)?.origin == origin)
    }

    @Test(
        "the characters of RFC 3986 are accepted, including the apostrophe",
        arguments: [
            "https://a/-._~!$&'()*+,;=:@/%20?-._~!$&'()*+,;=:@/?%C3%A9#'?/", "https://a?x",
            "https://a#x", "https://a_b.example-1/", "https://[2001:db8::7]:1/", "https://[::ffff:127.0.0.1]",
            "https://a:65535",
        ])
    func accepted(text: String) {
        #expect(WebURL(text)?.text == text)
    }

    @Test(
        "URLs that parsers could interpret differently are refused",
        arguments: [
            // No web scheme, no host.
            "", "a.example", "//a.example", "https:a", "https:/a", "https://", "https:///x", "https://?x", "https://#x",
            "https://:443", "ftp://a", "javascript://a", "file:///etc/passwd", " https://a",
            // Characters: blanks, controls, quotes, backslash, non-ASCII.
            "https://a b", "https://a/ ", "https://a/\t", "https://a/\r\nHost: b", "https://a/\0", "https://a/\u{7f}",
            "https://a\\@b", "https://a/\\b", "https://a/?\\", "https://a/\"", "https://a/<", "https://a/>",
            "https://a/^", "https://a/`", "https://a/|", "https://a/[", "https://a/?{", "https://a/#}",
            "https://a/#a#b",
            "https://a/\u{e4}", "https://l\u{f6}gin", "https://a/\u{308}", "https://a?\u{301}x", "https:/\u{301}/a",
            // Incomplete percent-encoding.
            "https://a/%", "https://a/%2", "https://a/%2g", "https://a/?%zz", "https://a/%%20",
            // Hosts.
            "https://a'b", "https://a%2eb", "https://a,b", "https://a;b", "https://.a", "https://.", "https://a*b",
            "https://[]", "https://[::1", "https://::1", "https://[a.example]", "https://[dead]", "https://[.]",
            "https://[::1%25eth0]", "https://[1::2::3]", "https://[::1]x", "https://[::1]443", "https://[12345::]",
            "https://[v1.a:b]",
            // Ports.
            "https://a:", "https://a:0", "https://a:65536", "https://a:+1", "https://a:-1", "https://a:4x",
            "https://a:1:2", "https://a:\u{661}",
        ])
    func refused(text: String) {
        #expect(WebURL(text) == nil)
        #expect(throws: WebURL.Invalid.notAURL) { try WebURL(parsing: text) }
    }

    @Test("braces are accepted in the path of a template only")
    func templates() throws {
        let text = "https://a/{tenantid}/v2.0"
        #expect(WebURL(text) == nil && !BrowserCommand.isWebAddress(text))
        #expect(try WebURL(parsing: text, isTemplate: true).text == text)
        #expect(throws: WebURL.Invalid.notAURL) { try WebURL(parsing: "https://a/?{x}", isTemplate: true) }
        #expect(throws: WebURL.Invalid.notAURL) { try WebURL(parsing: "https://{a}/", isTemplate: true) }
    }

    @Test(
        "the domain is the registered end of the host, as far as that is known",
        arguments: [
            ("https://login.example.org/x", "example.org"), ("https://example.org:8443", "example.org"),
            ("https://accounts.google.com.evil.example", "evil.example"),
            ("https://a.b.example.co.uk", "example.co.uk"), ("https://login.example.com.br", "example.com.br"),
            ("https://login.example.de", "example.de"), ("https://login.example.org.", "example.org"),
            ("https://10.0.0.1/x", "10.0.0.1"),
            ("https://[2001:db8::7]/", "[2001:db8::7]"), ("http://localhost:1", "localhost"),
        ])
    func domain(text: String, domain: String) {
        #expect(WebURL(text)?.domain == domain)
    }

    @Test(
        "user info is refused", arguments: ["https://u@a", "https://u:p@a/x", "https://good.example@a", "https://@a"])
    func userInfo(text: String) {
        #expect(throws: WebURL.Invalid.hasUserInfo) { try WebURL(parsing: text) }
    }

    @Test("plain http is safe at three hosts only")
    func loopback() {
        for host in ["127.0.0.1", "[::1]", "localhost", "LOCALHOST"] {
            #expect(WebURL("http://\(host):1/")?.isSafeToRequest == true, "\(host)")
        }
        for host in [
            "127.0.0.2", "127.1", "localhost.", "localhost.a", "a.localhost", "[::2]", "[::ffff:127.0.0.1]", "0.0.0.0",
            "a",
        ] {
            #expect(WebURL("http://\(host):1/")?.isSafeToRequest == false, "\(host)")
            #expect(WebURL("https://\(host):1/")?.isSafeToRequest == true, "\(host)")
        }
    }

    @Test("a URL has at most 8192 bytes, unless the caller allows more")
    func length() {
        let text = "https://a/" + String(repeating: "x", count: WebURL.longest - 10)
        #expect(WebURL(text) != nil)
        #expect(WebURL(text + "x") == nil)
        #expect(WebURL(text + "x", atMost: WebURL.longest + 1) != nil)
        #expect(BrowserCommand.isWebAddress(text + "x"))
        #expect(!BrowserCommand.isWebAddress("https://a/" + String(repeating: "x", count: 128 << 10)))
    }
}

@Suite("Percent-encoding")
struct PercentEncodingTests {
    @Test("RFC 3986's unreserved characters stay unchanged")
    func encode() {
        #expect(PercentEncoding.encode("aZ09-._~") == "aZ09-._~")
        #expect(PercentEncoding.encode(" +&='\"%/\u{e9}\n") == "%20%2B%26%3D%27%22%25%2F%C3%A9%0A")
    }

    @Test(
        "parameters are added to an existing query",
        arguments: [
            ("https://a/x", "https://a/x?b=%20"), ("https://a/x?", "https://a/x?b=%20"),
            ("https://a/x?c=1", "https://a/x?c=1&b=%20"), ("https://a/x?c&", "https://a/x?c&b=%20"),
        ])
    func adding(url: String, result: String) {
        #expect(PercentEncoding.url(url, adding: [("b", " ")]) == result)
        #expect(PercentEncoding.url(url, adding: []) == url)
    }

    @Test("decoding reverses encoding, and keeps broken sequences")
    func decode() {
        let text = "a b+c%&=\u{e9}\0"
        #expect(PercentEncoding.decodeForm(PercentEncoding.encode(text)[...].utf8) == text)
        #expect(PercentEncoding.decodeForm("a+b%2+%zz%%41%ff"[...].utf8) == "a b%2 %zz%A\u{fffd}")
    }
}

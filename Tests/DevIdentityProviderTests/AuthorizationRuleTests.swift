import BrokerTestSupport
import DevIdentityProvider
import Testing

@Suite("The development provider's authorization endpoint")
struct AuthorizationRuleTests {
    @Test(
        "a faulty request is returned to the client, with state and issuer",
        arguments: [
            (["code_challenge": ""], "invalid_request"),
            (["code_challenge_method": "plain"], "invalid_request"),
            (["code_challenge": "too-short"], "invalid_request"),
            (["response_type": "token"], "unsupported_response_type"),
            (["response_mode": "fragment"], "invalid_request"),
            (["scope": "openid everything.there.is"], "invalid_scope"),
            (["prompt": "none login"], "invalid_request"),
            (["prompt": "whatever"], "invalid_request"),
            (["max_age": "soon"], "invalid_request"),
            (["request": "e30.e30."], "request_not_supported"),
            (["request_uri": "urn:example:one"], "request_uri_not_supported"),
            (["id_token_hint": "e30.e30.AAAA"], "invalid_request"),
        ])
    func faultyRequest(_ change: [String: String], _ code: String) async throws {
        try await withProvider { scene async throws in
            let redirect = try #require(try await scene.knock(change).redirect)
            #expect(redirect["error"] == code)
            #expect(redirect["state"] == "state-1")
            #expect(redirect["iss"] == scene.provider.issuer)
            #expect(redirect["code"] == nil)
        }
    }

    @Test("a duplicate parameter is refused, and a second redirect_uri gets a page")
    func repeated() async throws {
        try await withProvider { scene async throws in
            let url = scene.client.authorizationURL()
            let scope = try #require(try await scene.browser.get(url + "&scope=email").redirect)
            #expect(scope["error"] == "invalid_request")
            let target = try await scene.browser.get(url + "&redirect_uri=http%3A%2F%2F127.0.0.1%2Fcallback")
            #expect(target.status == 400)
            #expect(target.header("location") == nil)
        }
    }

    @Test("an unknown client gets a page, unless any client is allowed")
    func unknownClient() async throws {
        try await withProvider(client: "never-heard-of") { scene async throws in
            let reply = try await scene.knock()
            #expect(reply.status == 400)
            #expect(reply.header("location") == nil)
        }
        try await withProvider(client: "never-heard-of", { $0.allowsAnyClient = true }) { scene async throws in
            #expect(try await scene.visit()["code"] != nil)
        }
    }

    @Test(
        "a loopback redirect may have any port, and no other difference",
        arguments: [
            ("http://127.0.0.1:40001/callback", true), ("http://[::1]:40002/callback", true),
            ("http://127.0.0.1", true), ("http://127.0.0.1:40001/callback?x=1", false),
            ("https://127.0.0.1:40001/callback", false), ("http://127.0.0.1:40001/callback#x", false),
            ("http://127.0.0.2:40001/callback", false), ("http://me@127.0.0.1:40001/callback", false),
            ("https://app.example/back", true), ("https://app.example:444/back", false),
            ("https://app.example/back/", false),
        ])
    func loopback(_ uri: String, _ isAccepted: Bool) async throws {
        let register = { (options: inout ProviderOptions) in
            options.clients = [
                ProviderClient(
                    id: "demo-one",
                    redirectURIs: ProviderClient.loopbackRedirectURIs + ["https://app.example/back"])
            ]
        }
        try await withProvider(register) { scene async throws in
            let reply = try await scene.knock(["redirect_uri": uri])
            #expect(reply.status == (isAccepted ? 200 : 400))
            #expect(reply.header("location") == nil)
        }
    }

    @Test("the pages name themselves, run no scripts, and escape repeated input")
    func pages() async throws {
        try await withProvider { scene async throws in
            let form = try await scene.knock(["login_hint": "\"><script>alert(1)</script>"])
            #expect(form.text.contains("NOT for production"))
            #expect(!form.text.contains("<script"))
            #expect(form.text.contains("&quot;&gt;&lt;script&gt;"))
            let policy = try #require(form.header("content-security-policy"))
            #expect(policy.contains("default-src 'none'"))
            let failure = try await scene.knock(["redirect_uri": "https://x.example/<b>"])
            #expect(!failure.text.contains("<b>"))
        }
    }

    @Test("a request with a host name other than loopback is refused (DNS rebinding)")
    func foreignHost() async throws {
        try await withProvider { scene async throws in
            let url = scene.provider.issuer + "/.well-known/openid-configuration"
            for host in ["evil.example", "127.0.0.1.evil.example:80", "[::1].evil.example"] {
                #expect(try await scene.browser.send("GET", url, headers: ["Host": host]).status == 421)
            }
            #expect(try await scene.browser.get(url).status == 200)
        }
    }
}

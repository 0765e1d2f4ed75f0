import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Testing

@Suite("The development provider's rules")
struct ProviderRuleTests {
    @Test("a sign-in gives a code with state and issuer, and the code gives tokens once")
    func code() async throws {
        try await withProvider { scene async throws in
            let redirect = try await scene.visit(ProviderScene.everything)
            #expect(redirect["state"] == "state-1")
            #expect(redirect["iss"] == scene.provider.issuer)
            let first = try await scene.client.redeem(redirect)
            #expect(first.status == 200)
            #expect(try first.json().objectValue?["refresh_token"] != nil)
            let second = try await scene.client.redeem(redirect)
            #expect(second.status == 400)
            #expect(try second.json().objectValue?["error"] == "invalid_grant")
        }
    }

    @Test("a verifier that does not match the challenge is refused")
    func verifier() async throws {
        try await withProvider { scene async throws in
            let redirect = try await scene.visit(["code_challenge": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"])
            let answer = try await scene.client.redeem(redirect)
            #expect(try answer.json().objectValue?["error"] == "invalid_grant")
        }
    }

    @Test("a refresh token works once, and a second use revokes its successor, too")
    func reuse() async throws {
        try await withProvider { scene async throws in
            let answer = try await scene.client.redeem(try await scene.visit(ProviderScene.everything)).json()
                .objectValue
            let first = try #require(answer?["refresh_token"]?.stringValue)
            let rotated = try await scene.refresh(first).json().objectValue
            let second = try #require(rotated?["refresh_token"]?.stringValue)
            #expect(second != first)
            #expect(try await scene.refresh(first).oauthError == "invalid_grant")
            #expect(try await scene.refresh(second).oauthError == "invalid_grant")
        }
    }

    @Test("within the grace time a used refresh token still works, and nothing is revoked")
    func grace() async throws {
        try await withProvider({ $0.policy.reuseGrace = 60 }) { scene async throws in
            let answer = try await scene.client.redeem(try await scene.visit(ProviderScene.everything)).json()
                .objectValue
            let first = try #require(answer?["refresh_token"]?.stringValue)
            let second = try #require(
                try await scene.refresh(first).json().objectValue?["refresh_token"]?.stringValue)
            #expect(scene.provider.repeatedRefreshes == 0)
            #expect(try await scene.refresh(first).status == 200)
            #expect(try await scene.refresh(second).status == 200)
            #expect(scene.provider.repeatedRefreshes == 1)
        }
    }

    @Test("behind a proxy, the provider's URLs have the proxy's port")
    func front() async throws {
        try await withTestBed { bed in
            let provider = try await DevIdentityProvider.start(in: bed) { $0.frontPort = 8443 }
            #expect(provider.issuer == "http://127.0.0.1:8443")
            let url = "http://127.0.0.1:\(provider.port)/.well-known/openid-configuration"
            let metadata = try await HTTPSession(in: bed).get(url).json().objectValue
            #expect(metadata?["issuer"] == "http://127.0.0.1:8443")
            #expect(metadata?["token_endpoint"] == "http://127.0.0.1:8443/token")
        }
    }

    @Test("prompt=none without a session redirects with login_required")
    func promptNone() async throws {
        try await withProvider { scene async throws in
            let redirect = try await scene.visit(["prompt": "none"])
            #expect(redirect["error"] == "login_required")
            #expect(redirect["state"] == "state-1")
        }
    }

    @Test("an unregistered redirect URI gets a page, never a redirect")
    func foreignRedirect() async throws {
        try await withProvider { scene async throws in
            for uri in [
                "https://evil.example/", "http://127.0.0.1:9/elsewhere", "http://127.0.0.1.evil.example/callback",
            ] {
                let reply = try await scene.client.http.get(scene.client.authorizationURL(["redirect_uri": uri]))
                #expect(reply.status == 400)
                #expect(reply.header("location") == nil)
            }
        }
    }

    @Test("an ordered fault applies as often as ordered")
    func fault() async throws {
        try await withProvider { scene async throws in
            let answer = try await scene.client.redeem(try await scene.visit(ProviderScene.everything)).json()
                .objectValue
            let token = try #require(answer?["refresh_token"]?.stringValue)
            let ordered = try await scene.client.http.send(
                "POST", "http://127.0.0.1:\(scene.provider.port)/control/fault",
                body: .json(["endpoint": "token", "kind": "status", "status": 503, "retryAfter": 7, "times": 1]))
            #expect(ordered.status < 300)
            let failed = try await scene.client.refresh(token)
            #expect(failed.status == 503)
            #expect(failed.header("retry-after") == "7")
            #expect(try await scene.refresh(token).status == 200)
        }
    }

    @Test("any address but loopback is refused at start")
    func loopbackOnly() async throws {
        var options = ProviderOptions()
        options.host = "0.0.0.0"
        let everywhere = options
        await #expect(throws: ProviderStartError.self) { try await DevIdentityProvider.start(everywhere) }
    }
}

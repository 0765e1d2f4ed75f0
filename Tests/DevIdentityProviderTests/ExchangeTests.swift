import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("The development provider's further exchanges with clients")
struct ExchangeTests {
    private let pkce = [
        "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "code_challenge_method": "S256",
        "response_type": "code",
    ]

    private func push(_ scene: ProviderScene, _ more: [String: String] = [:]) async throws -> HTTPReply {
        let fields = pkce.merging([
            "client_id": "demo-one", "redirect_uri": scene.client.redirectURI, "scope": "openid", "state": "pushed",
        ]) { $1 }
        return try await scene.ask("/par", fields.merging(more) { $1 })
    }

    private func visit(_ scene: ProviderScene, pushed: String) async throws -> ProviderRedirect {
        let url = "\(scene.provider.issuer)/authorize?client_id=demo-one&request_uri=\(pushed.urlEncoded)"
        return try await scene.provider.signIn(.alice, at: url, in: scene.bed)
    }

    @Test(
        "a pushed request works once, for its client and lifetime, and is checked when it is pushed")
    func pushed() async throws {
        try await withProvider { scene async throws in
            let reply = try await push(scene)
            #expect(reply.status == 201)
            let uri = try #require(try reply.json().objectValue?["request_uri"]?.stringValue)
            let stolen = try await scene.browser.get(
                "\(scene.provider.issuer)/authorize?client_id=demo-two&request_uri=\(uri.urlEncoded)")
            #expect(stolen.status == 400)
            let redirect = try await visit(scene, pushed: uri)
            #expect(redirect["state"] == "pushed")
            #expect(try await scene.client.redeem(redirect).status == 200)
            await #expect(throws: (any Error).self) { try await visit(scene, pushed: uri) }

            let late = try #require(try await push(scene).json().objectValue?["request_uri"]?.stringValue)
            scene.provider.advanceClock(by: TokenPolicy().pushedRequestLifetime)
            await #expect(throws: (any Error).self) { try await visit(scene, pushed: late) }

            #expect(try await push(scene, ["scope": "unheard.of"]).oauthError == "invalid_scope")
            #expect(try await push(scene, ["redirect_uri": "https://evil.example/"]).oauthError == "invalid_request")
            #expect(try await push(scene, ["request_uri": uri]).oauthError == "invalid_request")
        }
    }

    @Test("if pushing is required, discovery says so and a plain request is refused")
    func pushRequired() async throws {
        try await withProvider({ $0.policy.requiresPushedAuthorization = true }) { scene async throws in
            let discovery = try await scene.browser.get(scene.provider.issuer + "/.well-known/openid-configuration")
            #expect(try discovery.json().objectValue?["require_pushed_authorization_requests"] == true)
            #expect(try await scene.knock().redirect?["error"] == "invalid_request")
            let uri = try #require(try await push(scene).json().objectValue?["request_uri"]?.stringValue)
            #expect(try await visit(scene, pushed: uri)["code"] != nil)
        }
    }

    @Test("a client registers itself and signs in a person, with the initial token if one is required")
    func registration() async throws {
        try await withProvider { scene async throws in
            let url = scene.provider.issuer + "/register"
            let metadata: JSONObject = [
                "client_name": "Newcomer", "redirect_uris": ["http://127.0.0.1/callback"],
                "token_endpoint_auth_method": "none", "grant_types": ["authorization_code", "refresh_token"],
            ]
            let reply = try await scene.browser.send("POST", url, body: .json(.object(metadata)))
            #expect(reply.status == 201)
            let made = try #require(try reply.json().objectValue)
            #expect(made["client_secret"] == nil)
            #expect(made["client_name"] == "Newcomer")
            let client = try await PlainClient(
                made["client_id"]?.stringValue ?? "", authority: scene.provider.issuer,
                redirectURI: "http://127.0.0.1:9/callback", http: HTTPSession(in: scene.bed))
            let redirect = try await scene.provider.signIn(.bob, at: client.authorizationURL(), in: scene.bed)
            #expect(try await client.redeem(redirect).status == 200)

            let bad = try await scene.browser.send("POST", url, body: .json(["redirect_uris": ["no-uri"]]))
            #expect(bad.oauthError == "invalid_redirect_uri")
            let odd = try await scene.browser.send(
                "POST", url, body: .json(["redirect_uris": ["http://127.0.0.1/"], "grant_types": ["password"]]))
            #expect(odd.oauthError == "invalid_client_metadata")
            let confidential = try await scene.browser.send(
                "POST", url, body: .json(["redirect_uris": ["http://127.0.0.1/"]]))
            #expect(try confidential.json().objectValue?["client_secret"]?.stringValue?.isEmpty == false)
        }
        try await withProvider({ $0.initialAccessToken = "come-in" }) { scene async throws in
            let url = scene.provider.issuer + "/register"
            let body = HTTPSession.Body.json(["redirect_uris": ["http://127.0.0.1/"]])
            #expect(try await scene.browser.send("POST", url, body: body).status == 401)
            let shown = try await scene.browser.send(
                "POST", url, body: body, headers: ["Authorization": "Bearer come-in"])
            #expect(shown.status == 201)
        }
    }

    @Test("a requested resource is the token's audience, and no other can be added later (RFC 8707)")
    func resources() async throws {
        try await withProvider({ $0.accessTokenFormat = .jwt }) { scene async throws in
            let one = "https://one.example/api"
            let url = scene.client.authorizationURL(ProviderScene.everything)
            let both = url + "&resource=\(one.urlEncoded)&resource=\("https://two.example/".urlEncoded)"
            let redirect = try await scene.provider.signIn(.alice, at: both, in: scene.bed)
            let answer = try #require(try await scene.client.redeem(redirect).json().objectValue)
            let audience = try claims(of: answer["access_token"]?.stringValue)["aud"]
            #expect(audience == [.string(one), "https://two.example/"])

            let narrowed = try await scene.refresh(answer["refresh_token"]?.stringValue, ["resource": one])
            let second = try #require(try narrowed.json().objectValue)
            #expect(try claims(of: second["access_token"]?.stringValue)["aud"] == .string(one))
            let wider = try await scene.refresh(
                second["refresh_token"]?.stringValue, ["resource": "https://three.example/"])
            #expect(wider.oauthError == "invalid_target")
            let malformed = try await scene.knock(["resource": "not absolute"])
            #expect(malformed.redirect?["error"] == "invalid_target")
        }
    }

    @Test("prompt=create creates an account and signs it in")
    func create() async throws {
        try await withProvider { scene async throws in
            let browser = FormBrowser(session: scene.browser, home: scene.provider.issuer)
            let url = scene.client.authorizationURL(["prompt": "create"])
            let redirect = try await browser.visit(url) { form in
                form.fields["username"] = "dora"
                form.fields["password"] = "dora-pw-1"
                form.fields["name"] = "Dora Example"
            }
            let answer = try await scene.client.redeem(redirect).json().objectValue
            #expect(try claims(of: answer?["id_token"]?.stringValue)["name"] == "Dora Example")
            let taken = try await scene.knock(["prompt": "create"])
            #expect(taken.text.contains("Create an account"))
        }
    }

    @Test("acr_values and claims are in the ID token and at userinfo, the audience in an introspection")
    func claimsRequest() async throws {
        try await withProvider { scene async throws in
            let wish = "{\"id_token\":{\"email\":null},\"userinfo\":{\"name\":null}}"
            let malformed = try await scene.knock(["claims": "[1]"])
            #expect(malformed.redirect?["error"] == "invalid_request")
            let asked = ["scope": "openid", "acr_values": "urn:gold urn:silver", "claims": wish]
            let answer = try await scene.tokens(asked)
            let token = try claims(of: answer["id_token"]?.stringValue)
            #expect(token["acr"] == "urn:gold")
            #expect(token["email"] == "alice@example.test")
            #expect(token["name"] == nil)
            let info = try await scene.browser.send(
                "GET", scene.provider.issuer + "/userinfo",
                headers: ["Authorization": "Bearer \(answer["access_token"]?.stringValue ?? "")"])
            #expect(try info.json().objectValue?["name"] == "Alice Example")
            #expect(try info.json().objectValue?["email"] == nil)
            let told = try await scene.ask(
                "/introspect", ["client_id": "demo-one", "token": answer["access_token"]?.stringValue ?? ""])
            #expect(try told.json().objectValue?["aud"] == [.string(scene.provider.issuer)])
            #expect(try told.json().objectValue?["acr"] == "urn:gold")
        }
    }
}

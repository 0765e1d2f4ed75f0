import BrokerModel
import BrokerOAuth
import BrokerTestSupport
import Testing

@Suite("Authorization URL")
struct AuthorizationURLTests {
    private func url(
        endpoint: String = "https://idp.example/authorize", at issuer: String = "https://idp.example",
        change: (inout AuthorizationRequest) -> Void = { _ in }
    ) throws -> String {
        let http = try HTTPClient(configuration: .init(version: "1"))
        let provider = OAuthProvider(
            http: http, clock: ManualClock(), proofs: ES256ProofSigner(random: CountingRandom()))
        let metadata = ProviderMetadata(
            authority: try Authority(parsing: issuer, allowHTTPLoopback: false),
            issuer: issuer, authorizationEndpoint: endpoint,
            tokenEndpoint: "https://idp.example/token", jwksURI: "https://idp.example/jwks")
        var request = AuthorizationRequest(
            clientID: "my app", redirectURI: "http://127.0.0.1:4711/cb?a=b", scopes: Scopes(["openid", "mail+read"]),
            state: "s", nonce: "n", codeChallenge: "c", correlationID: "id-1")
        change(&request)
        return provider.authorizationURL(request, at: metadata)
    }

    @Test("every value is escaped exactly")
    func exact() throws {
        #expect(
            try url()
                == "https://idp.example/authorize?client_id=my%20app&response_type=code"
                + "&redirect_uri=http%3A%2F%2F127.0.0.1%3A4711%2Fcb%3Fa%3Db&scope=openid%20mail%2Bread&state=s&nonce=n"
                + "&code_challenge=c&code_challenge_method=S256&client-request-id=id-1")
    }

    @Test(
        "a known provider gets the parameters its sign-ins need, unless the app or the request overrides them",
        arguments: [
            ("https://accounts.google.com", "access_type=offline"),
            ("https://www.dropbox.com", "token_access_type=offline"),
        ])
    func habits(issuer: String, parameter: String) throws {
        #expect(try url(at: issuer).hasSuffix("&" + parameter))
        #expect(try !url().contains(parameter))
        let name = String(parameter.prefix { $0 != "=" })
        #expect(try url(at: issuer) { $0.registeredParameters = [name: "online"] }.hasSuffix("&\(name)=online"))
        let asked = try url(at: issuer) {
            $0.registeredParameters = [name: "online"]
            $0.extraQueryParameters = [name: "x"]
        }
        #expect(asked.hasSuffix("&\(name)=x") && !asked.contains("online") && !asked.contains("offline"))
    }

    @Test("extra parameters kept with the app cannot replace the broker's own")
    func registered() throws {
        let url = try url {
            $0.prompt = .login
            $0.registeredParameters = [
                "audience": "https://api", "prompt": "consent", "State": "x", "redirect_uri": "https://evil",
            ]
        }
        #expect(url.hasSuffix("&prompt=login&audience=https%3A%2F%2Fapi"))
        #expect(!url.contains("evil") && !url.contains("State=") && !url.contains("consent"))
    }

    @Test(
        "Auth0's parameter for a token's destination is audience, in each of its regions",
        arguments: [("acme.auth0.com", true), ("acme.eu.auth0.com", true), ("auth0.com.evil.example", false)])
    func audience(_ host: String, _ isTheirs: Bool) {
        #expect(KnownProviders.habits(at: host)?.resourceParameter == (isTheirs ? "audience" : nil))
    }

    @Test("prompt, hints and claims are added if they are given")
    func optional() throws {
        let url = try url {
            $0.prompt = .selectAccount
            $0.loginHint = "älice@example.com"
            $0.domainHint = "example.com"
            $0.claims = #"{"id_token":{"acr":null}}"#
        }
        #expect(
            url.hasSuffix(
                "&prompt=select_account&login_hint=%C3%A4lice%40example.com&domain_hint=example.com"
                    + "&claims=%7B%22id_token%22%3A%7B%22acr%22%3Anull%7D%7D"))
    }

    @Test("an ID token serves as the user's hint, unless the app gives one itself")
    func idTokenHint() throws {
        let mine: (inout AuthorizationRequest) -> Void = { $0.idTokenHint = Secret("a.b.c") }
        #expect(try url(change: mine).hasSuffix("&id_token_hint=a.b.c"))
        let apps = try url {
            mine(&$0)
            $0.extraQueryParameters = ["ID_token_hint": "d"]
        }
        #expect(apps.hasSuffix("&client-request-id=id-1&ID_token_hint=d"))
        // A URL with the groups of a large company is too long for servers.
        let large = try url { $0.idTokenHint = Secret(String(repeating: "a", count: 4097)) }
        #expect(large.hasSuffix("&client-request-id=id-1"))
    }

    @Test("an app's own parameters are added in order, and never in place of the broker's")
    func extra() throws {
        let url = try url {
            $0.extraQueryParameters = [
                "z": "&x=1#", "ui_locales": "urn:a b", "state": "forged", "CLIENT_ID": "forged",
                "response_mode": "fragment",
                "request_uri": "https://evil.example", "request": "x", "code_challenge_method": "plain",
            ]
        }
        #expect(url.hasSuffix("&client-request-id=id-1&ui_locales=urn%3Aa%20b&z=%26x%3D1%23"))
        let parameters = RedirectParameters(redirectURL: url[...])
        #expect(parameters.repeated.isEmpty)
        #expect(parameters["state"] == "s")
        #expect(parameters["code_challenge_method"] == "S256")
    }

    @Test("age, context, every resource, key and Entra's parameters are added if they are given")
    func furtherParameters() throws {
        let url = try url {
            $0.maxAge = 0
            $0.acrValues = ["urn:a", "urn:b"]
            $0.resources = ["https://a.example/", "https://b.example/"]
            $0.proofKeyThumbprint = "jkt"
            $0.asksClientInfo = true
            $0.isInstanceAware = true
            $0.extraQueryParameters = ["max_age": "9999", "resource": "https://c.example/", "dpop_jkt": "other"]
        }
        #expect(
            url.hasSuffix(
                "&client-request-id=id-1&max_age=0&acr_values=urn%3Aa%20urn%3Ab&resource=https%3A%2F%2Fa.example%2F"
                    + "&resource=https%3A%2F%2Fb.example%2F&dpop_jkt=jkt&client_info=1&instance_aware=true"))
    }

    @Test(
        "an endpoint's own query stays",
        arguments: [
            ("https://idp.example/a?p=b2c", "https://idp.example/a?p=b2c&client_id="),
            ("https://idp.example/a?", "https://idp.example/a?client_id="),
            ("https://idp.example/a?p=1&", "https://idp.example/a?p=1&client_id="),
        ])
    func endpointWithQuery(endpoint: String, start: String) throws {
        #expect(try url(endpoint: endpoint).hasPrefix(start))
    }
}

import BrokerModel
import BrokerOAuth
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Pushed authorization requests (RFC 9126)")
struct PushedAuthorizationTests {
    private var request: AuthorizationRequest {
        var request = AuthorizationRequest(
            clientID: "app", redirectURI: "http://127.0.0.1:1/cb", scopes: Scopes(["openid", "mail"]), state: "st",
            nonce: "no", codeChallenge: "ch", correlationID: "c-1")
        request.loginHint = "alice"
        request.proofKeyThumbprint = "jkt"
        request.extraQueryParameters = ["x": "1", "request_uri": "urn:evil"]
        return request
    }

    private func push(_ bed: ProviderBed, as client: ClientCredentials = .init(clientID: "app")) async throws
        -> PushedAuthorization
    {
        try await bed.oauth.push(request, as: client, at: bed.metadata())
    }

    @Test("every parameter is sent to the endpoint, and the browser gets client and request URI only")
    func pushed() async throws {
        try await withProvider { bed async throws in
            bed.offerEverything()
            bed.answer(at: .pushed, .json(["request_uri": "urn:x:1&2", "expires_in": 60], status: 201))
            let pushed = try await push(bed)
            #expect(pushed == PushedAuthorization(requestURI: "urn:x:1&2", expiresIn: 60))
            let sent = try #require(bed.requests(to: .pushed).first)
            #expect(
                sent.form == [
                    "client_id": "app", "response_type": "code", "redirect_uri": "http://127.0.0.1:1/cb",
                    "scope": "openid mail", "state": "st", "nonce": "no", "code_challenge": "ch",
                    "code_challenge_method": "S256", "client-request-id": "c-1", "login_hint": "alice",
                    "dpop_jkt": "jkt", "x": "1",
                ])
            let url = bed.oauth.authorizationURL(of: pushed, as: "app", at: try await bed.metadata())
            #expect(url == bed.provider.issuer + "/authorize?client_id=app&request_uri=urn%3Ax%3A1%262")
            var metadata = try await bed.metadata()
            metadata.authorizationEndpoint = "https://login.example/$HOME/authorize"
            #expect(
                bed.oauth.authorizationURL(of: pushed, as: "app", at: metadata)
                    .hasPrefix("https://login.example/%24HOME/authorize?"))
        }
    }

    @Test("a confidential client authenticates, and sends its id in the request as well")
    func confidential() async throws {
        try await withProvider { bed async throws in
            bed.offerEverything()
            bed.answer(at: .pushed, .json(["request_uri": "urn:x", "expires_in": 60], status: 201))
            _ = try await push(bed, as: .init(clientID: "app", secret: Secret("s")))
            let sent = try #require(bed.requests(to: .pushed).first)
            #expect(sent.basicCredentials?.id == "app")
            #expect(sent.form["client_id"] == "app")
            #expect(sent.form["client_secret"] == nil)
        }
    }

    @Test(
        "a response without a usable request URI is refused",
        arguments: [
            ["expires_in": 60], ["request_uri": "", "expires_in": 60], ["request_uri": "a b", "expires_in": 60],
            ["request_uri": "urn:x"], ["request_uri": "urn:x", "expires_in": 0],
        ] as [JSONObject])
    func unusable(answer: JSONObject) async throws {
        try await withProvider { bed async throws in
            bed.offerEverything()
            bed.answer(at: .pushed, .json(.object(answer), status: 201))
            #expect(await bed.failure { try await push(bed) }?.isInvalidResponse == true)
        }
    }

    @Test("a refusal keeps the provider's text, and without an endpoint the request is unsupported")
    func refused() async throws {
        try await withProvider { bed async throws in
            #expect(await bed.failure { try await push(bed) }?.isNotOffered == true)
            bed.offerEverything()
            bed.clock.advance(bySeconds: 3600)
            bed.answer(at: .pushed, .oauthError("invalid_request", description: "no\u{1b}[31m"))
            let refusal = await bed.refusal { try await push(bed) }
            #expect(refusal?.error == "invalid_request")
            #expect(refusal?.description == "no [31m")
        }
    }

    @Test("metadata say whether a push is required")
    func demanded() async throws {
        try await withProvider { bed async throws in
            bed.offerEverything()
            bed.provider.configure { $0.metadata["require_pushed_authorization_requests"] = true }
            let metadata = try await bed.metadata()
            #expect(metadata.requiresPushedAuthorization)
            #expect(
                metadata.pushedAuthorizationRequestEndpoint == bed.provider.issuer + OptionalEndpoint.pushed.path)
            #expect(metadata.registrationEndpoint == bed.provider.issuer + OptionalEndpoint.registration.path)
            #expect(metadata.dpopAlgorithms == nil)
        }
    }
}

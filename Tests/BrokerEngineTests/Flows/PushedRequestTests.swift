import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Pushed authorization requests in a sign-in")
struct PushedRequestTests {
    @Test("a request is pushed if the provider demands it or the app asks for it", arguments: [true, false])
    func pushed(demanded: Bool) async throws {
        let bed = try await EngineBed()
        bed.provider.offer {
            $0.pushedAuthorizationRequestEndpoint = "https://id.example.org/par"
            $0.requiresPushedAuthorization = demanded
        }
        let (browser, signIn) = bed.begin(bed.interactive { $0.pushesAuthorization = !demanded })
        let opening = try await browser.opening()
        let request = try #require(bed.provider.pushed.first)
        #expect(opening.url == "https://id.example.org/realm/authorize?request_uri=\(request.state)")
        #expect(request.redirectURI == opening.redirectURI)
        #expect(bed.provider.authorizations.isEmpty)
        _ = await bed.redirects.visit(opening, code: "alice")
        #expect(try await signIn.value.account.username == "alice")
    }

    @Test("a request is not pushed otherwise")
    func unasked() async throws {
        let bed = try await EngineBed()
        bed.provider.offer { $0.pushedAuthorizationRequestEndpoint = "https://id.example.org/par" }
        try await bed.signIn()
        #expect(bed.provider.pushed.isEmpty)
    }

    @Test(
        "a request with an ID token is pushed if possible, to keep it out of the browser's arguments",
        arguments: [false, true])
    func hint(isTheApps: Bool) async throws {
        let bed = try await EngineBed()
        let id = try await bed.signIn().account.id
        bed.provider.offer { $0.pushedAuthorizationRequestEndpoint = "https://id.example.org/par" }
        let before = bed.provider.authorizations.count
        let (browser, signIn) = bed.begin(
            bed.interactive {
                if isTheApps {
                    $0.extraQueryParameters = ["ID_token_hint": "e.f.g"]
                } else {
                    $0.account = .id(id)
                    $0.prompt = Prompt.none
                }
            })
        let opening = try await browser.opening()
        let request = try #require(bed.provider.pushed.last)
        #expect(request.idTokenHint?.revealed() == (isTheApps ? nil : "alice"))
        #expect(opening.url.hasSuffix("?request_uri=\(request.state)"))
        #expect(bed.provider.authorizations.count == before)
        _ = await bed.redirects.visit(opening, code: "alice")
        #expect(try await signIn.value.account.username == "alice")
    }

    @Test("an optional push that is refused falls back to a request without the ID token")
    func refusedHint() async throws {
        let bed = try await EngineBed()
        let id = try await bed.signIn().account.id
        bed.provider.offer { $0.pushedAuthorizationRequestEndpoint = "https://id.example.org/par" }
        bed.provider.failPushing(.refused(OAuthRefusal(error: "invalid_request", status: 400)))
        let unseen = bed.interactive {
            $0.account = .id(id)
            $0.prompt = Prompt.none
        }
        try await bed.signIn("alice", unseen)
        let shown = try #require(bed.provider.authorizations.last)
        #expect(shown.prompt == Prompt.none && shown.idTokenHint == nil)
        var insisting = unseen
        insisting.pushesAuthorization = true
        let failure = await #expect(throws: BrokerError.self) {
            try await bed.engine.acquireInteractive(insisting) { _ in Issue.record("nothing may be opened") }
        }
        #expect(failure?.details.oauthError == "invalid_request")
    }

    @Test("an app that requires pushing gets an error without an endpoint, and nothing is left waiting")
    func notOffered() async throws {
        let bed = try await EngineBed()
        let failure = await #expect(throws: BrokerError.self) {
            try await bed.engine.acquireInteractive(bed.interactive { $0.pushesAuthorization = true }) { _ in }
        }
        #expect(failure?.kind == .unsupported)
        #expect(!bed.redirects.isListening)
    }
}

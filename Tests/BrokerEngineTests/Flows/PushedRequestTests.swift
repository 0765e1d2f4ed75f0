import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Pushed authorization requests in a sign-in")
struct PushedRequestTests {
    @Test("a request is pushed where the provider demands it, or where the app asks for it", arguments: [true, false])
    func pushed(demanded: Bool) async throws {
        let bed = try await EngineBed()
        bed.provider.offer {
            $0.pushedAuthorizationRequestEndpoint = "https://id.example.org/par"
            $0.requiresPushedAuthorization = demanded
        }
        let (browser, signIn) = bed.begin(bed.interactive { $0.pushesAuthorization = !demanded })
        let opening = await browser.opening()
        let request = try #require(bed.provider.pushed.first)
        #expect(opening.url == "https://id.example.org/realm/authorize?request_uri=\(request.state)")
        #expect(request.redirectURI == opening.redirectURI)
        #expect(bed.provider.authorizations.isEmpty)
        _ = await bed.redirects.visit(opening, code: "alice")
        #expect(try await signIn.value.account.username == "alice")
    }

    @Test("nothing is pushed unasked")
    func unasked() async throws {
        let bed = try await EngineBed()
        bed.provider.offer { $0.pushedAuthorizationRequestEndpoint = "https://id.example.org/par" }
        let (browser, signIn) = bed.begin(bed.interactive())
        _ = await bed.redirects.visit(await browser.opening(), code: "alice")
        _ = try await signIn.value
        #expect(bed.provider.pushed.isEmpty)
    }

    @Test("an app that insists is told when the provider has no endpoint, and nothing waits any more")
    func notOffered() async throws {
        let bed = try await EngineBed()
        let failure = await #expect(throws: BrokerError.self) {
            try await bed.engine.acquireInteractive(bed.interactive { $0.pushesAuthorization = true }) { _ in }
        }
        #expect(failure?.kind == .unsupported)
        #expect(!bed.redirects.isListening)
    }
}

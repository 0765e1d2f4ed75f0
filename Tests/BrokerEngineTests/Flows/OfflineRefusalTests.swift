import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

/// Decision 17.
@Suite("A provider that refuses offline_access")
struct OfflineRefusalTests {
    private let refused = ProviderError.refused(OAuthRefusal(error: "invalid_scope", status: 400))

    private func visit(_ bed: EngineBed, _ opening: InteractionOpening, _ answer: String, state: String? = nil) async
        -> RedirectPage?
    {
        await bed.redirects.visit(opening.redirectURI, query: "\(answer)&state=\(state ?? opening.state)")
    }

    @Test("is asked once more in the same window without it, and later sign-ins omit it, also after a restart")
    func goesOn() async throws {
        let bed = try await EngineBed()
        let (browser, signIn) = bed.begin(bed.interactive())
        let opening = try await browser.opening()
        guard case .goesOn(let url) = await visit(bed, opening, "error=invalid_scope") else {
            Issue.record("the sign-in has ended")
            return
        }
        let state = String(url.split(separator: "=").last ?? "")
        #expect(state != opening.state)
        #expect(await visit(bed, opening, "code=alice") == .notExpected, "the first question is over")
        _ = await visit(bed, opening, "code=alice", state: state)
        _ = try await signIn.value
        #expect(bed.asksOffline == [true, false])

        let (later, engine) = (Browser(), try await bed.restarted())
        let next = Task { try await engine.acquireInteractive(bed.interactive()) { later.opened($0) } }
        _ = try await bed.redirects.visit(await later.opening(), code: "alice")
        _ = try await next.value
        #expect(bed.asksOffline == [true, false, false])
        let asked = Task {
            try await engine.acquireInteractive(bed.interactive { $0.prompt = .consent }) { later.opened($0) }
        }
        _ = try await bed.redirects.visit(await later.opening(), code: "alice")
        _ = try await asked.value
        #expect(bed.asksOffline.last == true, "a request for consent asks for everything anew")
    }

    @Test("ends the sign-in if an app's own scope is refused, and nothing is learned about offline_access")
    func ownScope() async throws {
        let bed = try await EngineBed()
        for _ in 1...2 {
            let (browser, signIn) = bed.begin(bed.interactive())
            let opening = try await browser.opening()
            guard case .goesOn(let url) = await visit(bed, opening, "error=invalid_scope") else {
                Issue.record("the sign-in has ended")
                return
            }
            _ = await visit(
                bed, opening, "error=invalid_scope", state: String(url.split(separator: "=").last ?? ""))
            let error = await #expect(throws: BrokerError.self) { try await signIn.value }
            #expect(error?.kind == .invalidScope)
        }
        #expect(bed.asksOffline == [true, false, true, false])
    }

    @Test("is remembered for the next sign-in if it refuses the code", arguments: ["not_allowed", "invalid_scope"])
    func atTokenEndpoint(error: String) async throws {
        let bed = try await EngineBed()
        bed.provider.whenRedeeming { _ throws(ProviderError) in
            throw .refused(OAuthRefusal(error: error, status: 400))
        }
        await #expect(throws: BrokerError.self) { try await bed.signIn() }
        bed.provider.whenRedeeming(nil)
        try await bed.signIn()
        #expect(bed.asksOffline == [true, false])
    }

    /// A sign-in whose redirect is handed in, so that no window waits for a second request.
    private func handIn(
        _ answer: String, _ scopes: [String] = ["mail.read"], on bed: EngineBed
    ) async throws -> BrokerError? {
        let (browser, signIn) = bed.begin(
            bed.interactive(Sample.app(), scopes) { $0.redirectURI = "msauth.mail://auth" })
        let opening = try await browser.opening()
        try bed.engine.complete(
            redirectURL: Secret("msauth.mail://auth?\(answer)&state=\(opening.state)"),
            from: .person(Sample.partition))
        if case .failure(let error) = await signIn.result { return error as? BrokerError }
        return nil
    }

    @Test("without a waiting window, the next sign-in for the same omits it, and after its success all others")
    func handedIn() async throws {
        let bed = try await EngineBed()
        #expect(try await handIn("error=invalid_scope", on: bed)?.kind == .invalidScope)
        #expect(try await handIn("code=alice", on: bed) == nil)
        #expect(try await handIn("code=alice", ["calendar"], on: bed) == nil)
        #expect(bed.asksOffline == [true, false, false])
    }

    @Test("without a waiting window, it is omitted until the provider has answered a request without it")
    func unanswered() async throws {
        let bed = try await EngineBed()
        #expect(try await handIn("error=invalid_scope", on: bed)?.kind == .invalidScope)
        #expect(try await handIn("error=access_denied", on: bed)?.kind == .userCanceled)
        #expect(try await handIn("code=alice", on: bed) == nil)
        #expect(bed.asksOffline == [true, false, false])
    }

    @Test("is asked for it again after a mistyped scope, with a window that waits or without")
    func mistyped() async throws {
        let bed = try await EngineBed()
        for _ in 1...2 {
            #expect(try await handIn("error=invalid_scope", ["mial.read"], on: bed)?.kind == .invalidScope)
        }
        #expect(try await handIn("error=invalid_scope", ["mail.raed"], on: bed)?.kind == .invalidScope)
        #expect(try await handIn("code=alice", on: bed) == nil)
        try await bed.signIn()
        #expect(bed.asksOffline == [true, false, true, true, true])
    }

    @Test("is asked for it if the administrator's setting says so", arguments: [true, false])
    func setting(value: Bool) async throws {
        let bed = try await EngineBed()
        bed.provider.offer {
            $0.takesOfflineAccess = value
            $0.scopesSupported = value ? ["openid"] : ["openid", "offline_access"]
        }
        try await bed.signIn()
        #expect(bed.asksOffline == [value])
    }
}

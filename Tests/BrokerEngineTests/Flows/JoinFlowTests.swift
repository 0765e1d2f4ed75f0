import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Synchronization
import Testing

@Suite("Sign-ins that are joined")
struct JoinFlowTests {
    /// The notices that the client of one request got, in order.
    private final class Notices: Sendable {
        enum Notice: Sendable {
            case open(InteractionOpening)
            case joined(InteractionJoining)
        }

        private let all = Watched<[Notice]>([])
        func add(_ notice: Notice) { all.withLock { $0.append(notice) } }
        var count: Int { all.withLock { $0.count } }

        func opening() async throws -> InteractionOpening {
            guard case .open(let opening) = try await all.first({ $0.first }) else { throw Unexpected() }
            return opening
        }

        func joining() async throws -> InteractionJoining {
            guard case .joined(let joining) = try await all.first({ $0.first }) else { throw Unexpected() }
            return joining
        }

        struct Unexpected: Error {}
    }

    private struct Client {
        let notices = Notices()
        let answer: Task<AcquiredToken, any Error>

        init(_ engine: TokenBroker, _ request: InteractiveRequest) {
            answer = Task { [notices] in
                try await engine.acquireInteractive(
                    request, onOpen: { notices.add(.open($0)) }, onJoin: { notices.add(.joined($0)) })
            }
        }

        func error() async -> BrokerError? {
            do {
                _ = try await answer.value
                return nil
            } catch {
                return error as? BrokerError
            }
        }
    }

    /// A request whose window is open, and one that has joined.
    private func pair(
        _ bed: EngineBed, second change: (inout InteractiveRequest) -> Void = { _ in }
    ) async throws -> (first: Client, opening: InteractionOpening, second: Client) {
        let first = Client(bed.engine, bed.interactive())
        let opening = try await first.notices.opening()
        let second = Client(bed.engine, bed.interactive(Sample.app(), ["mail.read"], change))
        _ = try await second.notices.joining()
        return (first, opening, second)
    }

    @Test(
        "equal requests share one window, one authorization request, one code and one token")
    func shared() async throws {
        let bed = try await EngineBed()
        let (first, opening, second) = try await pair(bed) {
            $0.correlationID = "correlation-2"
            $0.timeout = 60
            $0.presentation = .broker
        }
        let joining = try await second.notices.joining()
        #expect(joining.interactionID == opening.interactionID)
        #expect(joining.expiresOn == Sample.now + 60)
        #expect(joining.correlationID == "correlation-2")
        _ = await bed.redirects.visit(opening, code: "alice")
        #expect(try bed.text(try await first.answer.value) == "at-1")
        #expect(try bed.text(try await second.answer.value) == "at-1")
        #expect(bed.provider.authorizations.count == 1)
        #expect(bed.provider.grants.count == 1)
        #expect((first.notices.count, second.notices.count) == (1, 1))
    }

    @Test("one of twenty concurrent requests opens the window, and nineteen join")
    func crowd() async throws {
        let bed = try await EngineBed()
        let clients = (0..<20).map { _ in Client(bed.engine, bed.interactive()) }
        var openings: [InteractionOpening] = []
        for client in clients {
            if let opening = try? await client.notices.opening() { openings.append(opening) }
        }
        #expect(openings.count == 1)
        _ = await bed.redirects.visit(try #require(openings.first), code: "alice")
        for client in clients { #expect(try bed.text(try await client.answer.value) == "at-1") }
        #expect(bed.provider.grants.count == 1)
    }

    @Test("a cancel by any client answers all, and the next request gets a new window")
    func cancel() async throws {
        let bed = try await EngineBed()
        let (first, opening, second) = try await pair(bed)
        #expect(bed.engine.cancel(interactionID: opening.interactionID, by: .person(Sample.partition)))
        let third = Client(bed.engine, bed.interactive())
        #expect(await first.error()?.kind == .userCanceled)
        #expect(await second.error()?.kind == .userCanceled)
        let again = try await third.notices.opening()
        #expect(again.interactionID != opening.interactionID)
        _ = await bed.redirects.visit(again, code: "alice")
        #expect(try await third.answer.value.account.username == "alice")
    }

    @Test("subscribers are notified once of the window and of the outcome for all that joined")
    func events() async throws {
        let bed = try await EngineBed()
        let seen = Mutex<[String]>([])
        let subscription = try bed.engine.subscribe(to: [.interaction], group: nil, in: Sample.partition) { event in
            if case .interaction(let change, _, _, let error) = event.change {
                seen.withLock { $0.append("\(change.rawValue) \(error?.rawValue ?? "")") }
            }
        }
        for code in ["alice", "forged"] {
            let (first, opening, second) = try await pair(bed)
            _ = await bed.redirects.visit(opening, code: code)
            _ = await first.error()
            _ = await second.error()
        }
        #expect(seen.withLock { $0 } == ["opened ", "succeeded ", "opened ", "failed invalidResponse"])
        withExtendedLifetime(subscription) {}
    }

    @Test("a refusal by the person answers all")
    func denied() async throws {
        let bed = try await EngineBed()
        let (first, opening, second) = try await pair(bed)
        _ = await bed.redirects.visit(opening.redirectURI, query: "error=access_denied&state=\(opening.state)")
        #expect(await first.error()?.details.oauthError == "access_denied")
        #expect(await second.error()?.details.oauthError == "access_denied")
    }

    @Test(
        "each request has its own time-out, and the others go on waiting")
    func patience() async throws {
        let bed = try await EngineBed()
        let (first, opening, second) = try await pair(bed) { $0.timeout = 600 }
        try await bed.clock.waitForSleepers(2)
        bed.clock.advance(bySeconds: 300)
        #expect(await first.error()?.kind == .timedOut)
        #expect(bed.redirects.isListening)
        _ = await bed.redirects.visit(opening, code: "alice")
        #expect(try await second.answer.value.account.username == "alice")
    }

    @Test(
        "a caller that goes away leaves, even if it opened the window, and the last one ends the sign-in")
    func leaving() async throws {
        let bed = try await EngineBed()
        let (first, _, second) = try await pair(bed)
        first.answer.cancel()
        #expect(await first.error()?.kind == .userCanceled)
        #expect(bed.redirects.isListening)
        second.answer.cancel()
        #expect(await second.error()?.kind == .userCanceled)
        #expect(!bed.redirects.isListening)
    }

    @Test("a request that comes while the last one leaves is not ended with it")
    func crossing() async throws {
        let bed = try await EngineBed()
        for _ in 0..<200 {
            let first = Client(bed.engine, bed.interactive())
            let opening = try await first.notices.opening()
            let second = Client(bed.engine, bed.interactive())
            first.answer.cancel()
            let other = try? await second.notices.opening()
            _ = await bed.redirects.visit(other ?? opening, code: "alice")
            #expect(try await second.answer.value.account.username == "alice")
            _ = await first.error()
        }
    }

    @Test("a request that comes while the code is redeemed gets the same token")
    func lateComer() async throws {
        let bed = try await EngineBed()
        let gate = bed.holdTokens(for: "alice")
        let (first, opening, second) = try await pair(bed)
        async let page = bed.redirects.visit(opening, code: "alice")
        try await bed.provider.waitForGrants()
        let third = Client(bed.engine, bed.interactive())
        _ = try await third.notices.joining()
        // Too late to leave: the token is on its way, and kept.
        second.answer.cancel()
        gate.open()
        for client in [first, second, third] { #expect(try bed.text(try await client.answer.value) == "at-1") }
        #expect(await page == .signedIn(username: "alice", app: "mail"))
    }

    @Test("shutdown answers all waiting requests")
    func drain() async throws {
        let bed = try await EngineBed()
        let (first, _, second) = try await pair(bed)
        await bed.engine.drain()
        #expect(await first.error()?.reason == .interrupted)
        #expect(await second.error()?.reason == .interrupted)
    }

    static let otherQuestions: [(String, @Sendable (inout InteractiveRequest) -> Void)] = [
        ("scopes", { $0.scopes = Scopes(["mail.send"]) }),
        ("extra scopes", { $0.extraScopesToConsent = Scopes(["files"]) }),
        ("app", { $0.app = Sample.app("other") }),
        ("authority", { $0.authority = Sample.authority("https://id.example.org/other") }),
        ("claims", { $0.claims = "{}" }), ("capabilities", { $0.clientCapabilities = ["cp1"] }),
        ("resources", { $0.resources = ["https://api.example"] }), ("prompt", { $0.prompt = .login }),
        ("login hint", { $0.loginHint = "bob" }), ("domain hint", { $0.domainHint = "example.org" }),
        ("max age", { $0.maxAge = 60 }), ("acr values", { $0.acrValues = ["c1"] }),
        ("strict hint", { $0.isHintBinding = true }),
        ("extra parameters", { $0.extraQueryParameters = ["ui": "dark"] }),
        ("redirect URI", { $0.redirectURI = "http://127.0.0.1:4711/" }),
        ("person", { $0.partition = Partition(uid: 1001) }),
    ]

    @Test(
        "a request that differs in any relevant part gets a window of its own",
        arguments: otherQuestions.indices)
    func other(index: Int) async throws {
        let bed = try await EngineBed()
        let first = Client(bed.engine, bed.interactive())
        let opening = try await first.notices.opening()
        let second = Client(bed.engine, bed.interactive(Sample.app(), ["mail.read"], Self.otherQuestions[index].1))
        #expect(try await second.notices.opening().interactionID != opening.interactionID)
        for client in [first, second] { client.answer.cancel() }
        for client in [first, second] { _ = await client.error() }
    }

    @Test("a sandbox's sign-in neither answers nor ends one of the programs outside, which share a window of their own")
    func sandbox() async throws {
        let bed = try await EngineBed()
        let box = QuotaOwner.sandbox("org.example.Game")
        func inside() -> Client {
            Client(bed.engine, bed.interactive(Sample.app(), ["mail.read"]) { $0.claimant = box })
        }
        func outside(pid: Int32) -> Client {
            Client(
                bed.engine,
                bed.interactive(Sample.app(), ["mail.read"]) {
                    $0.claimant = .process(pid: pid)
                    $0.isOutside = true
                })
        }
        let first = inside()
        let trap = try await first.notices.opening()
        let person = outside(pid: 1)
        let opening = try await person.notices.opening()
        let tool = outside(pid: 2)
        #expect(try await tool.notices.joining().interactionID == opening.interactionID)
        _ = await bed.redirects.visit(trap, code: "mallory")
        #expect(try await first.answer.value.account.username == "mallory")
        let second = inside()
        let other = try await second.notices.opening()
        #expect(bed.engine.cancel(interactionID: other.interactionID, by: .beginner(box, Sample.partition)))
        #expect(await second.error()?.kind == .userCanceled)
        _ = await bed.redirects.visit(opening, code: "alice")
        for client in [person, tool] { #expect(try await client.answer.value.account.username == "alice") }
    }

    @Test("requests for different accounts share no window")
    func account() async throws {
        let bed = try await EngineBed()
        try await bed.signIn("alice")
        let anybody = Client(bed.engine, bed.interactive())
        _ = try await anybody.notices.opening()
        let alice = Client(bed.engine, bed.interactive(Sample.app(), ["mail.read"]) { $0.account = .username("Alice") })
        _ = try await alice.notices.opening()
        let again = Client(bed.engine, bed.interactive(Sample.app(), ["MAIL.read"]) { $0.account = .username("alice") })
        _ = try await again.notices.joining()
        for client in [anybody, alice, again] { client.answer.cancel() }
        for client in [anybody, alice, again] { _ = await client.error() }
    }
}

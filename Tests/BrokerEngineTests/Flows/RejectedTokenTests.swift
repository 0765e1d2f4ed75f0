import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("A token that a resource server refused")
struct RejectedTokenTests {
    @Test("it is refreshed once, and whoever still names it afterwards gets the new one from the cache")
    func once() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        let request = bed.silent { $0.rejectedToken = Secret("at-1") }
        #expect(bed.engine.memory.cached(request) == nil)
        let token = try await bed.engine.acquireSilent(request)
        #expect(try bed.text(token) == "at-2")
        #expect(!token.rejected)
        let again = try await bed.engine.acquireSilent(request)
        #expect(try bed.text(again) == "at-2")
        #expect(again.fromCache)
        #expect(bed.provider.refreshes == ["rt-1"])
    }

    @Test("it is replaced whole: who names it for a part of its scopes does not leave it to be given on")
    func whole() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        let part = bed.silent(Sample.app(), []) { $0.rejectedToken = Secret("at-1") }
        #expect(try bed.text(try await bed.engine.acquireSilent(part)) == "at-2")
        for scopes in [[], ["mail.read"]] {
            let next = try await bed.engine.acquireSilent(bed.silent(Sample.app(), scopes))
            #expect(try bed.text(next) == "at-2")
        }
        #expect(bed.provider.refreshes == ["rt-1"])
    }

    @Test("many callers who name it at once: one refresh")
    func together() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        let gate = bed.holdTokens()
        let texts = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    try bed.text(try await bed.engine.acquireSilent(bed.silent { $0.rejectedToken = Secret("at-1") }))
                }
            }
            try await bed.provider.waitForRefreshes()
            gate.open()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(texts) == ["at-2"])
        #expect(bed.provider.refreshes == ["rt-1"])
    }

    @Test("a token that is not the cached one costs the provider nothing")
    func anotherToken() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        let token = try await bed.engine.acquireSilent(bed.silent { $0.rejectedToken = Secret("at-0") })
        #expect(try bed.text(token) == "at-1")
        #expect(bed.provider.refreshes.isEmpty)
    }

    @Test("a provider that gives the same token again is asked once a minute, and the answer says so")
    func sameAgain() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in
            var tokens = provider.tokens()
            tokens.accessToken = Secret("at-1")
            return tokens
        }
        let request = bed.silent { $0.rejectedToken = Secret("at-1") }
        #expect(try await bed.engine.acquireSilent(request).rejected)
        let recent = try await bed.engine.acquireSilent(request)
        #expect(recent.rejected)
        #expect(try bed.text(recent) == "at-1")
        #expect(bed.provider.refreshes.count == 1)
        bed.clock.advance(bySeconds: 61)
        _ = try await bed.engine.acquireSilent(request)
        #expect(bed.provider.refreshes.count == 2)
    }

    @Test(
        "a refresh that fails is not tried again for a minute: the token is answered as it is, and the answer says so")
    func failing() async throws {
        let bed = try await EngineBed()
        try await bed.signIn("alice", Sample.app(), ["mail.read", "calendar"])
        let gate = Gate()
        bed.provider.whenRedeeming { _ throws(ProviderError) in
            await gate.wait()
            throw .refused(OAuthRefusal(error: "temporarily_unavailable", status: 503))
        }
        @Sendable func ask(_ scopes: [String]) async -> AcquiredToken? {
            try? await bed.engine.acquireSilent(bed.silent(Sample.app(), scopes) { $0.rejectedToken = Secret("at-1") })
        }
        async let mail = ask(["mail.read"])
        try await bed.provider.waitForRefreshes()
        let calendar = Task.immediate { await ask(["calendar"]) }
        gate.open()
        _ = await (mail, calendar.value)
        let recent = await ask(["calendar"])
        #expect(recent?.rejected == true)
        #expect(bed.provider.refreshes.count == 1)
    }

    @Test("once the provider has refused the sign-in, only the person can help, every time")
    func refusedSignIn() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        bed.provider.whenRedeeming { _ throws(ProviderError) in
            throw .refused(OAuthRefusal(error: "invalid_grant", status: 400))
        }
        for _ in 0..<2 {
            let error = await #expect(throws: BrokerError.self) {
                try await bed.engine.acquireSilent(bed.silent { $0.rejectedToken = Secret("at-1") })
            }
            #expect(error?.kind == .interactionRequired)
            #expect(error?.reason == .refreshTokenRevoked)
        }
        #expect(bed.provider.refreshes.count == 1)
    }
}

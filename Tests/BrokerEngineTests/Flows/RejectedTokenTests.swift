import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("A token that a resource server refused")
struct RejectedTokenTests {
    @Test("is refreshed once, and callers that still name it get the new one from the cache")
    func once() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        let request = bed.silent { $0.rejectedToken = Secret("at-1") }
        #expect(bed.engine.cached(request) == nil)
        let token = try await bed.engine.acquireSilent(request)
        #expect(try bed.text(token) == "at-2")
        #expect(!token.rejected)
        let again = try await bed.engine.acquireSilent(request)
        #expect(try bed.text(again) == "at-2")
        #expect(again.fromCache)
        #expect(bed.provider.refreshes == ["rt-1"])
    }

    @Test("is replaced as a whole, even if the caller wants a part of its scopes")
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

    @Test("causes one refresh for many callers at once")
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

    @Test("causes no request if it is not the cached one")
    func anotherToken() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        let token = try await bed.engine.acquireSilent(bed.silent { $0.rejectedToken = Secret("at-0") })
        #expect(try bed.text(token) == "at-1")
        #expect(bed.provider.refreshes.isEmpty)
    }

    @Test("is asked for once a minute if the provider returns the same one, and the answer says so")
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
        "is returned with a mark if the refresh fails, which is not retried for a minute")
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

    @Test("needs the person every time once the provider has refused the sign-in")
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

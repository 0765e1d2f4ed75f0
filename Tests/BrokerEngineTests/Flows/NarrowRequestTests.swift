import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Silent requests for no more than their scopes")
struct NarrowRequestTests {
    private static let both = ["mail.read", "calendar"]

    /// A bed with a token for two scopes.
    private func signedIn(renewable: Bool = true, scope: String? = nil) async throws -> EngineBed {
        let bed = try await EngineBed()
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in
            var response = provider.tokens(for: "alice", scope: scope)
            if !renewable { response.refreshToken = nil }
            return response
        }
        try await bed.signIn("alice", Sample.app(), Self.both)
        bed.provider.whenRedeeming(nil)
        return bed
    }

    private func narrow(_ bed: EngineBed, _ scopes: [String] = ["mail.read"]) -> SilentRequest {
        bed.silent(Sample.app(), scopes) { $0.isNarrow = true }
    }

    @Test("a token with more scopes is replaced by one refresh")
    func refreshed() async throws {
        let bed = try await signedIn()
        #expect(bed.engine.cached(narrow(bed)) == nil)
        let token = try await bed.engine.acquireSilent(narrow(bed))
        #expect(!token.fromCache && !token.token.record.scopes.contains("calendar"))
        #expect(try await bed.engine.acquireSilent(narrow(bed)).fromCache)
        #expect(bed.provider.refreshes == ["rt-1"])
    }

    @Test("without a refresh token the cached token is the answer, though it has more scopes")
    func notRenewable() async throws {
        let bed = try await signedIn(renewable: false)
        #expect(try bed.text(try await bed.engine.acquireSilent(narrow(bed))) == "at-1")
        #expect(try bed.text(try await bed.engine.acquireSilent(narrow(bed, []))) == "at-1")
        #expect(bed.provider.refreshes.isEmpty)
    }

    @Test(
        "the cached token is the answer, though it has more scopes, if the refresh fails",
        arguments: [
            ProviderError.offline("no route"), .refused(OAuthRefusal(error: "invalid_grant", status: 400)),
            .refused(OAuthRefusal(error: "invalid_client", status: 401)),
        ])
    func refreshFails(error: ProviderError) async throws {
        let bed = try await signedIn()
        bed.provider.whenRedeeming { _ throws(ProviderError) in throw error }
        #expect(try bed.text(try await bed.engine.acquireSilent(narrow(bed))) == "at-1")
        #expect(bed.provider.refreshes == ["rt-1"])
    }

    @Test("a grant that names no scope of the person's identity is not refreshed for that alone")
    func withoutIdentity() async throws {
        let bed = try await signedIn(scope: "mail.read calendar")
        #expect(try bed.text(try await bed.engine.acquireSilent(narrow(bed, []))) == "at-1")
        #expect(bed.provider.refreshes.isEmpty)
        // Nobody grants `email` by name, so nothing would be sent for it.
        for _ in 1...2 { _ = try await bed.engine.acquireSilent(narrow(bed, ["email"])) }
        #expect(bed.provider.refreshes.count == 1)
    }

    @Test("a forced request that shares the failed refresh of a narrow one gets its error, not the cached token")
    func sharedFailure() async throws {
        let bed = try await signedIn()
        let gate = Gate()
        bed.provider.whenRedeeming { _ throws(ProviderError) in
            await gate.wait()
            throw .refused(OAuthRefusal(error: "invalid_grant", status: 400))
        }
        let (narrow, forced) = (narrow(bed), bed.silent { $0.forceRefresh = true })
        let answer = Task.immediate { [engine = bed.engine] in try await engine.acquireSilent(narrow) }
        try await gate.waitForCallers()
        let refusal = Task.immediate { [engine = bed.engine] in try await engine.acquireSilent(forced) }
        gate.open()
        #expect(try bed.text(try await answer.value) == "at-1")
        let error = await #expect(throws: BrokerError.self) { try await refusal.value }
        #expect(error?.kind == .interactionRequired)
    }

    @Test("a caller's limit holds even where no refresh can bring a narrower token")
    func limited() async throws {
        let bed = try await signedIn(renewable: false)
        let request = bed.silent {
            $0.isNarrow = true
            $0.ceiling = Scopes(["mail.read"]).union(.harmless)
        }
        let error = await #expect(throws: BrokerError.self) { try await bed.engine.acquireSilent(request) }
        #expect(error?.kind == .interactionRequired && error?.reason == .noTokens)
    }

    @Test("a grant for resources is not refreshed again and again for a token without one")
    func resources() async throws {
        let bed = try await EngineBed()
        try await bed.signIn(
            "alice", bed.interactive(Sample.app(), Self.both) { $0.resources = ["https://api.example"] })
        _ = try await bed.engine.acquireSilent(narrow(bed))
        #expect(try await bed.engine.acquireSilent(narrow(bed)).fromCache)
        #expect(bed.provider.refreshes == ["rt-1"])
    }
}

import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

/// Two clients of one group at a provider with families of clients (MSAL, "FOCI").
@Suite("Family refresh tokens at work")
struct FamilyFlowTests {
    private let mail = Sample.app("mail", client: "client-1", group: "office")
    private let chat = Sample.app("chat", client: "client-2", group: "office")

    private func bed(family: String? = "1") async throws -> EngineBed {
        let bed = try await EngineBed()
        bed.roster.set([mail, chat])
        bed.provider.whenRedeeming { [unowned provider = bed.provider] grant in
            var response = provider.tokens(for: "alice")
            response.familyID = family
            return response
        }
        try await bed.signIn("alice", mail)
        return bed
    }

    private func failure(_ bed: EngineBed, _ request: SilentRequest) async -> BrokerError? {
        await #expect(throws: BrokerError.self) { try await bed.engine.acquireSilent(request) }
    }

    private func refuse(_ bed: EngineBed, _ tokens: Set<String>, _ subError: String? = nil, family: String? = "1") {
        bed.provider.whenRedeeming { [unowned provider = bed.provider] grant throws(ProviderError) in
            if case .refreshToken(let token, _) = grant, tokens.contains(token.revealed()) {
                throw .refused(OAuthRefusal(error: "invalid_grant", subError: subError, status: 400))
            }
            var response = provider.tokens(for: "alice")
            response.familyID = family
            return response
        }
    }

    @Test("an app of the family gets a token without asking the person, also after a restart")
    func anotherApp() async throws {
        let bed = try await bed()
        let engine = try await bed.restarted()
        let token = try await engine.acquireSilent(bed.silent(chat))
        #expect(!token.fromCache)
        #expect(bed.provider.refreshes == ["rt-1"])
        // From now on it has a token of its own.
        _ = try await engine.acquireSilent(bed.silent(chat) { $0.forceRefresh = true })
        #expect(bed.provider.refreshes == ["rt-1", "rt-2"])
    }

    @Test("apps without a family share nothing")
    func noFamily() async throws {
        let bed = try await bed(family: nil)
        #expect(await failure(bed, bed.silent(chat))?.reason == .noTokens)
        #expect(bed.provider.refreshes.isEmpty)
    }

    @Test("the family ends at the group's border")
    func groupBorder() async throws {
        let bed = try await bed()
        for stranger in [Sample.app("chat", client: "client-2"), Sample.app("c", client: "client-1", group: "other")] {
            #expect(await failure(bed, bed.silent(stranger))?.reason == .noTokens)
        }
        #expect(bed.provider.refreshes.isEmpty)
    }

    @Test(
        "an app outside the family is refused once, which is remembered after a restart, and the token stays")
    func clientMismatch() async throws {
        let bed = try await bed()
        refuse(bed, ["rt-1"], "client_mismatch")
        #expect(await failure(bed, bed.silent(chat))?.reason == .noTokens)
        #expect(await failure(bed, bed.silent(chat, ["calendar"]))?.reason == .noTokens)
        let engine = try await bed.restarted()
        await #expect(throws: BrokerError.self) { try await engine.acquireSilent(bed.silent(chat, ["tasks"])) }
        #expect(bed.provider.refreshes == ["rt-1"])
    }

    @Test("the family's token saves the sign-in when the app's own token is dead")
    func ownTokenDead() async throws {
        let bed = try await bed()
        // The other app rotates the family's token, and with it this one's is over.
        _ = try await bed.engine.acquireSilent(bed.silent(chat))
        refuse(bed, ["rt-1"], "bad_token")
        _ = try await bed.engine.acquireSilent(bed.silent(mail) { $0.forceRefresh = true })
        #expect(bed.provider.refreshes == ["rt-1", "rt-1", "rt-2"])
    }

    @Test("a dead token that is both the app's and the family's is sent once and removed twice")
    func sameTokenDead() async throws {
        let bed = try await bed()
        refuse(bed, ["rt-1"], "bad_token")
        let forced = bed.silent(mail) { $0.forceRefresh = true }
        #expect(await failure(bed, forced)?.reason == .refreshTokenRevoked)
        #expect(bed.provider.refreshes == ["rt-1"])
        bed.clock.advance(bySeconds: 120)
        #expect(await failure(bed, forced)?.reason == .noTokens)
        #expect(await failure(bed, bed.silent(chat))?.reason == .noTokens)
        #expect(bed.provider.refreshes == ["rt-1"])
    }

    @Test("refreshes of a family's apps are serialised, so that no token is redeemed twice at a time")
    func turns() async throws {
        let bed = try await bed()
        let gate = bed.holdTokens(for: "alice") { $0.familyID = "1" }
        let (engine, first, second) = (
            bed.engine, bed.silent(mail) { $0.forceRefresh = true }, bed.silent(chat)
        )
        let mailCall = Task { try await engine.acquireSilent(first) }
        try await bed.provider.waitForRefreshes()
        // Runs as far as it can at once.
        let chatCall = Task.immediate { try await engine.acquireSilent(second) }
        #expect(bed.engine.refreshesInFlight == 1)
        gate.open()
        _ = try await (mailCall.value, chatCall.value)
        #expect(bed.provider.refreshes == ["rt-1", "rt-2"])
    }

    @Test(
        "an app that signs out while it redeems the family's token leaves the successor to the family",
        arguments: SignOutDuringRefreshTests.Way.allCases)
    func signOutMeanwhile(_ way: SignOutDuringRefreshTests.Way) async throws {
        let bed = try await bed()
        let gate = bed.holdTokens(for: "alice") { $0.familyID = "1" }
        let silent = bed.silent(chat)
        let refresh = Task { [engine = bed.engine] in try await engine.acquireSilent(silent) }
        try await bed.provider.waitForRefreshes()
        try await way(chat, on: bed)
        gate.open()
        #expect(await #expect(throws: BrokerError.self) { try await refresh.value }?.reason == .signedOut)
        refuse(bed, ["rt-1"], "bad_token")
        _ = try await bed.engine.acquireSilent(bed.silent(mail) { $0.forceRefresh = true })
        #expect(bed.provider.refreshes == ["rt-1", "rt-1", "rt-2"])
    }

    @Test("removal from the last app also removes the family's token")
    func removal() async throws {
        let bed = try await bed()
        let account = try #require(
            try bed.engine.accounts(of: mail, includeSignedOut: false, in: Sample.partition).first)
        _ = try await bed.engine.remove(.id(account.id), from: mail, in: Sample.partition)
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in provider.tokens(for: "alice") }
        try await bed.signIn("alice", mail)
        #expect(await failure(bed, bed.silent(chat))?.reason == .noTokens)
    }
}

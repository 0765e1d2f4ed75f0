import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

/// A provider's claims about a person at its UserInfo endpoint (decision 13).
@Suite("UserInfo")
struct UserInfoFlowTests {
    private func bed(_ userInfo: JSONObject, about subject: String = "alice") async throws -> EngineBed {
        let bed = try await EngineBed()
        bed.provider.offer { $0.userinfoEndpoint = $0.authority.url + "/userinfo" }
        bed.provider.whenAskedWho { _ in UserInfo(subject: ExactText(subject), claims: userInfo) }
        return bed
    }

    private func signInByDevice(_ bed: EngineBed, _ response: TokenResponse) async throws -> AcquiredToken {
        bed.provider.whenRedeeming { _ in response }
        let request = DeviceCodeRequest(
            partition: Sample.partition, app: Sample.app(), query: TokenQuery(scopes: ["mail.read"]),
            correlationID: "correlation-1")
        let signIn = Task { [engine = bed.engine] in try await engine.acquireByDeviceCode(request) { _ in } }
        try await bed.clock.waitForSleepers()
        bed.clock.advance(bySeconds: 5)
        return try await signIn.value
    }

    @Test(
        "identifies the person of a device sign-in without an ID token, as the same account as in the browser")
    func deviceWithoutIDToken() async throws {
        let bed = try await bed(["preferred_username": "alice@example.org", "name": "Alice", "acr": "phr"])
        let token = try await signInByDevice(bed, bed.provider.tokens())
        #expect(token.account.username == "alice@example.org")
        #expect(token.account.name == "Alice")
        #expect(token.idToken == nil)
        #expect(bed.provider.userInfoQuestions == ["at-1"])
        bed.provider.whenRedeeming(nil)
        let inBrowser = try await bed.signIn("alice")
        #expect(inBrowser.account.id == token.account.id)
        _ = try await bed.engine.acquireSilent(bed.silent { $0.forceRefresh = true })
    }

    @Test("without an answer fails a device sign-in, and its tokens are revoked")
    func nobody() async throws {
        let bed = try await bed([:])
        bed.provider.whenAskedWho { _ in nil }
        await #expect(throws: BrokerError.self) { try await signInByDevice(bed, bed.provider.tokens()) }
        await bed.engine.drain()
        #expect(bed.provider.revoked == ["rt-1", "at-1"])
    }

    @Test("does not replace a missing ID token for a code, because only that has the nonce")
    func browserWithoutIDToken() async throws {
        let bed = try await bed(["preferred_username": "alice"])
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in provider.tokens() }
        let error = await #expect(throws: BrokerError.self) { try await bed.signIn() }
        #expect(error?.kind == .invalidResponse)
        #expect(bed.provider.userInfoQuestions.isEmpty)
    }

    @Test("provides names that the ID token lacks, which survive refreshes without them")
    func names() async throws {
        let bed = try await bed(["preferred_username": "alice@example.org", "name": "Alice", "acr": "phr"])
        bed.provider.say { ($0["preferred_username"], $0["name"]) = (nil, nil) }
        let token = try await bed.signIn()
        #expect(token.account.username == "alice@example.org")
        #expect(token.account.name == "Alice")
        #expect(token.account.claims?["acr"] == nil, "decisions rely on the ID token alone")
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in provider.tokens(for: "alice") }
        let refreshed = try await bed.engine.acquireSilent(bed.silent { $0.forceRefresh = true })
        #expect(refreshed.account.username == "alice@example.org")
        #expect(refreshed.account.name == "Alice")
        #expect(bed.provider.userInfoQuestions == ["at-1"], "once for a sign-in")
    }

    @Test("is ignored if it is about another person or missing")
    func otherPerson() async throws {
        let bed = try await bed(["preferred_username": "mallory"], about: "mallory")
        bed.provider.say { ($0["preferred_username"], $0["name"]) = (nil, nil) }
        #expect(try await bed.signIn().account.username == "alice")
        bed.provider.whenAskedWho { _ in nil }
        #expect(try await bed.signIn("bob").account.username == "bob")
    }

    @Test("is not needed if the ID token names the person")
    func notAsked() async throws {
        let bed = try await bed([:])
        try await bed.signIn()
        #expect(bed.provider.userInfoQuestions.isEmpty)
    }
}

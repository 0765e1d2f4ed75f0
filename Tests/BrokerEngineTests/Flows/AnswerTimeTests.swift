import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

/// Between the answer and the token's record, keys and claims may be fetched; the machine may sleep meanwhile.
@Suite("Lifetimes count from the answer")
struct AnswerTimeTests {
    private static let pause: Int64 = 20

    @Test("a sign-in's token does not live longer because its ID token was verified late")
    func signIn() async throws {
        let bed = try await EngineBed()
        bed.provider.say { [clock = bed.clock] _ in clock.advance(bySeconds: Self.pause) }
        let record = try await bed.signIn().token.record
        #expect(bed.clock.now == Sample.now + Self.pause)
        #expect(record.cachedAt == Sample.now)
        #expect(record.expiresOn == Sample.now + 3600)
    }

    @Test("a refreshed token does not live longer because its ID token was verified late")
    func refresh() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in provider.tokens(for: "alice") }
        bed.provider.say { [clock = bed.clock] _ in clock.advance(bySeconds: Self.pause) }
        let record = try await bed.engine.acquireSilent(bed.silent { $0.forceRefresh = true }).token.record
        #expect(bed.clock.now == Sample.now + Self.pause)
        #expect(record.cachedAt == Sample.now)
        #expect(record.expiresOn == Sample.now + 3600)
    }
}

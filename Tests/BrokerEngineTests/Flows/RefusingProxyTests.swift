import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("A proxy that refuses")
struct RefusingProxyTests {
    @Test("a token that is still valid is returned meanwhile, and afterwards the error is not retryable")
    func silent() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        bed.provider.whenRedeeming { _ throws(ProviderError) in throw .refusedByProxy("The proxy does not.") }
        bed.clock.advance(bySeconds: 3400)
        #expect(try await bed.engine.acquireSilent(bed.silent()).fromCache)
        bed.clock.advance(bySeconds: 200)
        let error = await #expect(throws: BrokerError.self) { try await bed.engine.acquireSilent(bed.silent()) }
        #expect(error?.kind == .offline && error?.details.isRetryable == false)
        #expect(error?.message == "The proxy does not.")
    }
}

import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Pace of renewals")
struct RenewalPaceTests {
    @Test("a provider that sends refresh_in 0 is not asked with every request, but once a minute")
    func dueAtOnce() async throws {
        let bed = try await EngineBed()
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in
            var response = provider.tokens(for: "alice")
            response.refreshIn = 0
            return response
        }
        try await bed.signIn()
        for round in 1...3 {
            for _ in 0..<50 { #expect(bed.engine.cached(bed.silent()) != nil) }
            #expect(bed.engine.refreshesInFlight == 0 && bed.provider.refreshes.count == round - 1)
            bed.clock.advance(bySeconds: 60)
            try await eventually("it is renewed") {
                #expect(bed.engine.cached(bed.silent()) != nil)
                return bed.engine.refreshesInFlight == 0 && bed.provider.refreshes.count == round
            }
        }
    }
}

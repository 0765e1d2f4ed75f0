import BrokerOAuth
import Testing

@Suite("Kept connections") struct IdleLimitTests {
    @Test("a connection from before sleep is not reused, later ones are")
    func sleep() {
        var limit = IdleLimit(longest: .seconds(45))
        #expect(limit.now(awake: .seconds(100), uptime: .seconds(100)) == .seconds(45))
        #expect(limit.now(awake: .seconds(200), uptime: .milliseconds(200_900)) == .seconds(45))
        // Slept for an hour since: only connections that were used within this second may be reused.
        #expect(limit.now(awake: .seconds(210), uptime: .seconds(3_810)) == .seconds(1))
        #expect(limit.now(awake: .seconds(220), uptime: .seconds(3_820)) == .seconds(10))
        #expect(limit.now(awake: .seconds(300), uptime: .seconds(3_900)) == .seconds(45))
        #expect(limit.now(awake: .seconds(301), uptime: .seconds(9_000)) == .seconds(1))
    }

    @Test("a sleep before the first request changes nothing")
    func first() {
        var limit = IdleLimit(longest: .seconds(45))
        #expect(limit.now(awake: .seconds(100), uptime: .seconds(9_000)) == .seconds(45))
    }
}

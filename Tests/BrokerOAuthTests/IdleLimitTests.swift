import BrokerOAuth
import Testing

@Suite("Kept connections") struct IdleLimitTests {
    @Test("one from before the machine slept is not used again; those made after it are, as long as any other")
    func sleep() {
        var limit = IdleLimit(longest: .seconds(45))
        #expect(limit.now(awake: .seconds(100), uptime: .seconds(100)) == .seconds(45))
        #expect(limit.now(awake: .seconds(200), uptime: .milliseconds(200_900)) == .seconds(45))
        // Slept an hour since: only what was used within this second may be.
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

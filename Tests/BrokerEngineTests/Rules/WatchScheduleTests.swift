import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerTokenCache
import BrokerValues
import Testing

@Suite("The schedule of a watch")
struct WatchScheduleTests {
    private let start: NumericDate = 1_800_000_000
    private static let offline = BrokerError(.offline, "No network.")
    private static let refused = BrokerError(.interactionRequired, "Sign in.", reason: .refreshTokenRevoked)

    /// A token of one hour, received at the start; times are seconds from there.
    private func times(renewal: Int64? = nil, leaving: Int64 = 3300, end: Int64 = 3600) -> WatchSchedule.Times {
        .init(cachedAt: start, renewal: renewal.map { start + $0 }, leaving: start + leaving, end: start + end)
    }

    private func schedule(_ times: WatchSchedule.Times) -> WatchSchedule { WatchSchedule(times, at: start, .zero) }

    private func wait(_ schedule: WatchSchedule, after seconds: Int64) -> Duration {
        schedule.wait(at: start + seconds, .seconds(seconds))
    }

    @Test("nothing happens before the token stops answering, and a new one begins a new wait")
    func renewal() {
        var schedule = schedule(times())
        #expect(wait(schedule, after: 0) == .seconds(3300))
        #expect(schedule.look(at: start + 3299, .seconds(3299)) == nil)
        #expect(schedule.look(at: start + 3300, .seconds(3300)) == .renewal)
        var next = times()
        (next.cachedAt, next.leaving, next.end) = (start + 3300, start + 6600, start + 6900)
        guard case .tell = schedule.found(.another(next), by: .renewal, at: start + 3300, .seconds(3300)) else {
            Issue.record("the new token is not told")
            return
        }
        #expect(wait(schedule, after: 3300) == .seconds(3300))
    }

    @Test("a renewal is tried when it is due, and again when the token stops answering")
    func ahead() {
        var schedule = schedule(times(renewal: 1800))
        #expect(wait(schedule, after: 0) == .seconds(1800))
        #expect(schedule.look(at: start + 1800, .seconds(1800)) == .renewal)
        _ = schedule.found(.same, by: .renewal, at: start + 1800, .seconds(1800))
        #expect(wait(schedule, after: 1800) == .seconds(2))
    }

    @Test(
        "transient failures are retried with growing pauses until the token's end, which ends the watch"
    )
    func failures() {
        var schedule = schedule(times())
        var (now, pauses): (Int64, [Int64]) = (3300, [])
        while schedule.look(at: start + now, .seconds(now)) == .renewal {
            let step = schedule.found(.failed(Self.offline), by: .renewal, at: start + now, .seconds(now))
            if case .end(let error) = step {
                #expect(error.kind == .offline && now == 3600)
                break
            }
            let pause = wait(schedule, after: now).components.seconds
            pauses.append(pause)
            now += pause
        }
        #expect(now == 3600)
        #expect(pauses.starts(with: [2, 4, 8, 16, 32, 60, 60, 60]) && pauses.reduce(0, +) == 300, "\(pauses)")
    }

    @Test("a failure that only a person can fix ends the watch at once, in either kind of look")
    func person() {
        for look in [WatchSchedule.Look.renewal, .glance] {
            var schedule = schedule(times())
            guard case .end(let error) = schedule.found(.failed(Self.refused), by: look, at: start + 10, .seconds(10))
            else {
                Issue.record("it goes on")
                continue
            }
            #expect(error.reason == .refreshTokenRevoked)
        }
    }

    @Test("a transient failure of a glance changes nothing")
    func glanceFails() {
        var schedule = schedule(times())
        _ = schedule.found(.failed(Self.offline), by: .glance, at: start + 10, .seconds(10))
        #expect(wait(schedule, after: 10) == .seconds(3290))
    }

    @Test("a watch that wakes long after the token's end tries for a minute, until the network is back")
    func suspended() {
        var schedule = schedule(times())
        var now: Int64 = 30_000
        #expect(schedule.look(at: start + now, .seconds(now)) == .renewal)
        while case .goOn = schedule.found(.failed(Self.offline), by: .renewal, at: start + now, .seconds(now)) {
            now += wait(schedule, after: now).components.seconds
            #expect(schedule.look(at: start + now, .seconds(now)) == .renewal)
        }
        #expect((30_060...30_120).contains(now))
    }

    @Test(
        "a clock set forward makes it due at once, and one set back causes one extra look"
    )
    func clock() {
        let waiting = schedule(times())
        #expect(waiting.wait(at: start + 3400, .seconds(10)) <= .zero)
        var schedule = schedule(times())
        #expect(schedule.look(at: start - 7200, .seconds(10)) == .renewal)
        _ = schedule.found(.same, by: .renewal, at: start - 7200, .seconds(10))
        #expect(schedule.wait(at: start - 7200, .seconds(10)) == .seconds(2))
    }

    @Test("tokens that live for a second or no time do not make it spin", arguments: [0, 1] as [Int64])
    func shortLives(seconds: Int64) {
        var schedule = schedule(times(leaving: seconds, end: seconds))
        var (now, renewals) = (Int64(0), 0)
        while now < 60 {
            let pause = max(wait(schedule, after: now), .zero)
            now += pause.components.seconds + (pause.components.attoseconds > 0 ? 1 : 0)
            guard schedule.look(at: start + now, .seconds(now)) != nil else { continue }
            renewals += 1
            let next = WatchSchedule.Times(
                cachedAt: start + now, leaving: start + now + seconds, end: start + now + seconds)
            _ = schedule.found(.another(next), by: .renewal, at: start + now, .seconds(now))
        }
        #expect((1...31).contains(renewals), "\(renewals)")
    }

    @Test("a glance comes at once, but glances for other callers' refreshes come a second apart")
    func glances() {
        var schedule = schedule(times())
        schedule.glance(soon: true, at: .seconds(10))
        #expect(schedule.look(at: start + 10, .seconds(10)) == .glance)
        _ = schedule.found(.same, by: .glance, at: start + 10, .seconds(10))
        #expect(schedule.look(at: start + 10, .seconds(10)) == nil)
        schedule.glance(soon: false, at: .seconds(10))
        #expect(wait(schedule, after: 10) == .seconds(1))
        schedule.glance(soon: true, at: .seconds(10))
        #expect(wait(schedule, after: 10) == .zero)
    }

    @Test("a minimum beyond the tokens' lifetime counts as half of it")
    func tooLongALifetime() {
        let token = TokenLifetime(cachedAt: start, expiresOn: start + 3600)
        let rule = { ExpiryRule(now: start, buffer: 300, minimumLifetime: $0).end(of: token) - start }
        #expect(rule(nil) == 3301 && rule(600) == 3001 && rule(0) == 3600)
        #expect(rule(3600) == 1801 && rule(86_400) == 1801)
        let eternal = TokenLifetime(cachedAt: .min, expiresOn: .max)
        #expect(ExpiryRule(now: start, buffer: 300).end(of: eternal) == .max - 299)
    }
}

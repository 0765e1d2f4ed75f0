import BrokerModel
import BrokerTestSupport
import BrokerTokenCache
import BrokerValues
import Testing

@Suite("Renewal before a token's expiry, and use after it")
struct LifetimeTests {
    private func token(
        expiresIn: Int64 = 3600, refreshIn: Int64? = nil, extended: Int64? = nil
    ) -> AccessTokenRecord {
        var record = Sample.accessToken(expiresIn: expiresIn)
        record.refreshOn = refreshIn.map { Sample.now + $0 }
        record.extendedExpiresOn = extended.map { Sample.now + $0 }
        return record
    }

    @Test("a token past refresh_in is due", arguments: [(1799, false), (1800, true), (3599, true)])
    func refreshIn(age: Int, due: Bool) {
        let rule = RefreshAheadRule(now: Sample.now + Int64(age), share: 0)
        #expect(rule.isDue(token(refreshIn: 1800)) == due)
    }

    @Test(
        "the configured share of the lifetime applies without refresh_in",
        arguments: [(50, 1799, false), (50, 1800, true), (90, 3239, false), (90, 3240, true), (0, 3599, false)])
    func share(share: Int, age: Int, due: Bool) {
        #expect(RefreshAheadRule(now: Sample.now + Int64(age), share: share).isDue(token()) == due)
    }

    @Test(
        "a new token is not due at once, whatever the provider and the settings say",
        arguments: [(3600, 0, 60), (3600, 59, 60), (3600, 61, 61), (300, 0, 30), (300, -5, 30), (5, 0, 1), (5, nil, 1)]
            as [(Int64, Int64?, Int64)])
    func notAtOnce(lifetime: Int64, refreshIn: Int64?, first: Int64) {
        let token = token(expiresIn: lifetime, refreshIn: refreshIn)
        #expect(!RefreshAheadRule(now: Sample.now + first - 1, share: 1).isDue(token))
        #expect(RefreshAheadRule(now: Sample.now + first, share: 1).isDue(token))
    }

    @Test("the provider's own refresh_in overrides the share")
    func providerFirst() {
        #expect(!RefreshAheadRule(now: Sample.now + 1000, share: 1).isDue(token(refreshIn: 1800)))
    }

    @Test("lifetimes beyond all calendars do not trap")
    func huge() {
        var record = token()
        record.expiresOn = .max
        #expect(!RefreshAheadRule(now: Sample.now + 1, share: 99).isDue(record))
        record.cachedAt = .min
        #expect(!RefreshAheadRule(now: Sample.now, share: 99).isDue(record))
    }

    @Test(
        "a token without a buffer is returned until its expiry, and not in the second after it",
        arguments: [(3599, true), (3600, false), (3601, false)])
    func noBuffer(age: Int64, usable: Bool) {
        #expect(ExpiryRule(now: Sample.now + age, buffer: 0).isUsable(token()) == usable)
        #expect(ExpiryRule(now: Sample.now + age, buffer: -5, minimumLifetime: 0).isUsable(token()) == usable)
    }

    @Test(
        "the buffer is at most a fifth of the token's own lifetime",
        arguments: [(300, 240), (60, 48), (1500, 1200), (3600, 3300), (86_400, 86_100)] as [(Int64, Int64)])
    func shortLife(lifetime: Int64, last: Int64) {
        let token = token(expiresIn: lifetime)
        #expect(ExpiryRule(now: Sample.now + last, buffer: 300).isUsable(token))
        #expect(!ExpiryRule(now: Sample.now + last + 1, buffer: 300).isUsable(token))
    }

    private func isUsable(
        _ record: AccessTokenRecord, age: Int64, minimumLifetime: Int64? = nil
    ) -> Bool {
        ExpiryRule(now: Sample.now + age, buffer: 300, minimumLifetime: minimumLifetime)
            .isUsableWhileProviderIsDown(record)
    }

    @Test("a token is usable until its extended expiry while the provider is down")
    func extended() {
        #expect(isUsable(token(extended: 7200), age: 7199))
        #expect(!isUsable(token(extended: 7200), age: 7200))
        #expect(!isUsable(token(), age: 3000), "the provider gave no extension")
    }

    @Test("the extension respects a minimum lifetime and a clock that was set back")
    func extendedLimits() {
        #expect(isUsable(token(extended: 7200), age: 7000, minimumLifetime: 200))
        #expect(!isUsable(token(extended: 7200), age: 7000, minimumLifetime: 201))
        #expect(!isUsable(token(extended: 7200), age: -1))
    }
}

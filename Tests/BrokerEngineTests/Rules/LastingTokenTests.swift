import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("For how long a cached token goes on answering a request")
struct LastingTokenTests {
    private func lasting(
        _ record: AccessTokenRecord = Sample.accessToken(), buffer: Int64 = 300, minimumLifetime: Int64? = nil,
        share: Int = 0
    ) -> LastingToken {
        LastingToken(
            Sample.stored(record),
            expiry: ExpiryRule(now: Sample.now, buffer: buffer, minimumLifetime: minimumLifetime),
            renewal: RefreshAheadRule(now: Sample.now, share: share))
    }

    @Test(
        "to the expiry buffer before its end, and not before it was made",
        arguments: [(-1, false), (0, true), (3_300, true), (3_301, false)])
    func buffer(age: Int64, answers: Bool) {
        #expect(lasting().answers(at: Sample.now + age) == answers)
    }

    @Test("as long as it has left what was asked for", arguments: [(600, true), (601, false)])
    func minimumLifetime(age: Int64, answers: Bool) {
        #expect(lasting(minimumLifetime: 3_000).answers(at: Sample.now + age) == answers)
    }

    @Test(
        "until it is due to be renewed, as the provider or the setting says",
        arguments: [(1_799, true), (1_800, false)])
    func renewal(age: Int64, answers: Bool) {
        var record = Sample.accessToken()
        record.refreshOn = Sample.now + 1_800
        #expect(lasting(record).answers(at: Sample.now + age) == answers)
        #expect(lasting(share: 50).answers(at: Sample.now + age) == answers)
    }

    @Test("whenever a request would be answered with it and start nothing, and at no other time")
    func asARequest() {
        for buffer in [0, 300, 5_000] as [Int64] {
            for minimumLifetime in [nil, 1_000] as [Int64?] {
                for share in [0, 50] {
                    let token = lasting(buffer: buffer, minimumLifetime: minimumLifetime, share: share)
                    for age in stride(from: -12, through: 3_612, by: 12).flatMap({ [$0 - 1, $0, $0 + 1] }) as [Int64] {
                        let now = Sample.now + age
                        let expiry = ExpiryRule(now: now, buffer: buffer, minimumLifetime: minimumLifetime)
                        let answers =
                            expiry.isUsable(Sample.accessToken())
                            && !RefreshAheadRule(now: now, share: share).isDue(Sample.accessToken())
                        guard token.answers(at: now) != answers else { continue }
                        Issue.record("\(age) s, buffer \(buffer), \(minimumLifetime ?? -1), share \(share)")
                    }
                }
            }
        }
    }
}

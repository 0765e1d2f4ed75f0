import BrokerEngine
import BrokerModel
import Testing

@Suite("Polling for a device code")
struct DevicePollingTests {
    private func polling(interval: Int64 = 5, deadline: Int64 = 600) -> DevicePolling {
        DevicePolling(interval: interval, deadline: .seconds(deadline))
    }

    @Test("the first poll waits for the interval, and so do those after authorization_pending")
    func interval() {
        var polling = polling(interval: 7)
        #expect(polling.next(after: nil, at: .zero) == .wait(.seconds(7)))
        #expect(polling.next(after: .pending, at: .seconds(7)) == .wait(.seconds(7)))
    }

    @Test("slow_down adds five seconds permanently, every time", arguments: [1, 2, 3])
    func slowDown(times: Int) {
        var polling = polling()
        for _ in 0..<times { _ = polling.next(after: .slowDown(retryAfter: nil), at: .zero) }
        #expect(polling.interval == .seconds(5 + 5 * times))
        #expect(polling.next(after: .pending, at: .zero) == .wait(polling.interval))
    }

    @Test(
        "the longer of Retry-After and the increased interval applies",
        arguments: [(3, 10), (30, 30)])
    func slowDownWithPause(retryAfter: Int, expected: Int) {
        var polling = DevicePolling(interval: 5, deadline: .seconds(600))
        #expect(polling.next(after: .slowDown(retryAfter: retryAfter), at: .zero) == .wait(.seconds(expected)))
        #expect(polling.next(after: .pending, at: .zero) == .wait(.seconds(10)))
    }

    @Test("network errors double the pause up to a minute without ending the wait, and a response resets it")
    func backoff() {
        var polling = polling()
        let pauses = (0..<5).map { _ in polling.next(after: .trouble(retryAfter: nil), at: .zero) }
        #expect(pauses == [10, 20, 40, 60, 60].map { .wait(.seconds($0)) })
        #expect(polling.next(after: .pending, at: .zero) == .wait(.seconds(5)))
        #expect(polling.next(after: .trouble(retryAfter: nil), at: .zero) == .wait(.seconds(10)))
    }

    @Test("an interval beyond the longest backoff is kept after errors too")
    func longInterval() {
        var polling = polling(interval: 90)
        #expect(polling.next(after: .trouble(retryAfter: nil), at: .zero) == .wait(.seconds(90)))
    }

    @Test("Retry-After is obeyed, and never shortens the interval")
    func retryAfter() {
        var polling = polling()
        #expect(polling.next(after: .trouble(retryAfter: 42), at: .zero) == .wait(.seconds(42)))
        #expect(polling.next(after: .trouble(retryAfter: 1), at: .zero) == .wait(.seconds(5)))
    }

    @Test("the last pause ends with the code, and then the wait is over")
    func expiry() {
        var polling = polling(deadline: 8)
        #expect(polling.next(after: .pending, at: .seconds(5)) == .wait(.seconds(3)))
        #expect(polling.isOver(at: .seconds(8)))
        #expect(polling.next(after: .pending, at: .seconds(8)) == .timedOut)
        #expect(polling.next(after: .trouble(retryAfter: nil), at: .seconds(9)) == .timedOut)
    }

    @Test("an interval of zero counts as one second", arguments: [0, -1, Int64.min])
    func noInterval(interval: Int64) {
        var polling = polling(interval: interval)
        #expect(polling.next(after: nil, at: .zero) == .wait(.seconds(1)))
    }

    @Test("expired, denied and refused each end the wait with their own result")
    func endings() {
        var polling = polling()
        #expect(polling.next(after: .expired, at: .zero) == .timedOut)
        #expect(polling.next(after: .denied, at: .zero) == .denied)
        #expect(polling.next(after: .failed, at: .zero) == .failed)
    }

    @Test(
        "the provider's error codes are mapped to answers",
        arguments: [
            ("authorization_pending", .pending), ("slow_down", .slowDown(retryAfter: nil)), ("expired_token", .expired),
            ("access_denied", .denied), ("authorization_declined", .denied),
            ("temporarily_unavailable", .trouble(retryAfter: nil)), ("server_error", .trouble(retryAfter: nil)),
            ("invalid_grant", .expired), ("invalid_client", .failed), ("whatever", .failed),
        ] as [(String, DevicePolling.Answer)])
    func codes(code: String, answer: DevicePolling.Answer) {
        #expect(DevicePolling.Answer(.refused(OAuthRefusal(error: code, status: 400))) == answer)
    }

    @Test(
        "invalid_grant with a second code is about the person who signed in, not about time",
        arguments: [
            OAuthRefusal(error: "invalid_grant", status: 400, errorCodes: [50105]),
            OAuthRefusal(error: "invalid_grant", subError: "consent_required", status: 400, errorCodes: [65001]),
            OAuthRefusal(error: "invalid_grant", subError: "message_only", status: 400),
        ])
    func aboutThePerson(refusal: OAuthRefusal) {
        #expect(DevicePolling.Answer(.refused(refusal)) == .failed)
        var plain = refusal
        (plain.subError, plain.errorCodes) = ("", [])
        #expect(DevicePolling.Answer(.refused(plain)) == .expired)
    }

    @Test("trouble on the way and a busy provider leave the code alone, but a malformed answer ends the wait")
    func otherErrors() {
        #expect(DevicePolling.Answer(.offline("x")) == .trouble(retryAfter: nil))
        #expect(DevicePolling.Answer(.outcomeUnknown("x")) == .trouble(retryAfter: nil))
        #expect(DevicePolling.Answer(.unavailable(status: 503, retryAfter: 9, "x")) == .trouble(retryAfter: 9))
        #expect(DevicePolling.Answer(.untrusted("x")) == .trouble(retryAfter: nil))
        #expect(DevicePolling.Answer(.refusedByProxy("x")) == .trouble(retryAfter: nil))
        #expect(DevicePolling.Answer(.invalidResponse(status: 200, "x")) == .failed)
    }
}

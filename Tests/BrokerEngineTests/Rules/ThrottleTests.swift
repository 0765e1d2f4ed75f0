import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerTokenCache
import BrokerValues
import Testing

@Suite("Throttling")
struct ThrottleTests {
    private let request = Self.request()

    private static func request(
        scopes: [String] = ["mail.read"], claims: String? = nil, app: AppRegistration = Sample.app(), token: UInt8 = 1
    ) -> RequestThrottle.Request {
        .init(
            partition: Sample.partition, owner: Sample.owner(app), authority: Sample.authority(),
            token: [token], scopes: Scopes(scopes), claims: claims)
    }

    private func failure(_ status: Int, retryAfter: Int? = nil) -> BrokerError {
        BrokerError(.serverUnavailable, "busy") {
            $0.httpStatus = status
            $0.retryAfter = retryAfter
        }
    }

    /// Seconds until the request may go out again.
    private func pause(after error: BrokerError, times: Int = 1) -> Int? {
        var throttle = RequestThrottle()
        for _ in 0..<times { throttle.failed(request, with: error, at: .seconds(1000)) }
        return throttle.refusal(of: request, at: .seconds(1000))?.details.retryAfter
    }

    @Test("a Retry-After stops the same request for that time, and the answer names the rest")
    func retryAfter() throws {
        var throttle = RequestThrottle()
        throttle.failed(request, with: failure(503, retryAfter: 7), at: .seconds(1000))
        let refusal = try #require(throttle.refusal(of: request, at: .milliseconds(1_002_500)))
        #expect(refusal.kind == .throttled)
        #expect(refusal.details.retryAfter == 5)
        #expect(refusal.details.httpStatus == 503)
        #expect(refusal.message.hasSuffix("try again in 5 seconds."))
        let last = try #require(throttle.refusal(of: request, at: .seconds(1006)))
        #expect(last.message.hasSuffix("try again in 1 second."))
        #expect(throttle.refusal(of: request, at: .milliseconds(1_006_999)) != nil)
        #expect(throttle.refusal(of: request, at: .seconds(1007)) == nil)
    }

    @Test(
        "a refusal that an administrator can correct is retried for a forced request after a moment",
        arguments: [ErrorReason.notAssigned, .notInTenant, .blockedByPolicy])
    func administrator(reason: ErrorReason) {
        var throttle = RequestThrottle()
        throttle.failed(
            request, with: BrokerError(.interactionRequired, "no", reason: reason), at: .seconds(1000))
        #expect(throttle.refusal(of: request, insists: true, at: .seconds(1001)) != nil)
        #expect(throttle.refusal(of: request, insists: true, at: .seconds(1002)) == nil)
        #expect(throttle.refusal(of: request, at: .seconds(1119)) != nil)
    }

    @Test("a refusal that only the person can correct is not retried, even for a forced request")
    func person() {
        var throttle = RequestThrottle()
        let error = BrokerError(.interactionRequired, "no", reason: .consentRequired)
        throttle.failed(request, with: error, at: .seconds(1000))
        #expect(throttle.refusal(of: request, insists: true, at: .seconds(1060)) != nil)
        throttle.failed(
            request, with: BrokerError(.interactionRequired, "no") { $0.oauthError = "access_denied" },
            at: .seconds(1060))
        #expect(throttle.refusal(of: request, insists: true, at: .seconds(1062)) == nil)
    }

    @Test("status 429 without a Retry-After stops the request for 60 seconds")
    func tooManyRequests() { #expect(pause(after: failure(429)) == 60) }

    @Test("a pause is never longer than an hour, and never zero")
    func bounds() {
        #expect(pause(after: failure(503, retryAfter: 1_000_000)) == 3600)
        #expect(pause(after: failure(503, retryAfter: 0)) == 1)
    }

    @Test(
        "a plain 5xx may be retried at once, and repeated ones cause growing pauses up to a minute",
        arguments: [(1, nil), (2, 2), (3, 4), (4, 8), (6, 32), (7, 60), (60, 60)])
    func growingPause(times: Int, seconds: Int?) {
        #expect(pause(after: failure(500), times: times) == seconds)
        #expect(pause(after: BrokerError(.serverUnavailable, "no answer"), times: times) == seconds)
    }

    @Test("failures far apart do not add up")
    func farApart() {
        var throttle = RequestThrottle()
        throttle.failed(request, with: failure(500), at: .seconds(1000))
        throttle.failed(request, with: failure(500), at: .seconds(2000))
        #expect(throttle.refusal(of: request, at: .seconds(2000)) == nil)
    }

    @Test("a success resets the count of failures")
    func success() {
        var throttle = RequestThrottle()
        throttle.failed(request, with: failure(500), at: .seconds(1000))
        throttle.succeeded(request)
        throttle.failed(request, with: failure(500), at: .seconds(1001))
        #expect(throttle.refusal(of: request, at: .seconds(1001)) == nil)
    }

    @Test("trimming keeps current pauses, and the failure count of past ones")
    func resting() throws {
        var throttle = RequestThrottle()
        throttle.failed(request, with: failure(503, retryAfter: 7), at: .seconds(1000))
        throttle.trim(at: .seconds(1006))
        #expect(try #require(throttle.refusal(of: request, at: .seconds(1006))).details.httpStatus == 503)
        throttle.trim(at: .seconds(1007))
        #expect(throttle.refusal(of: request, at: .seconds(1007)) == nil)
        throttle.failed(request, with: failure(500), at: .seconds(1008))
        #expect(throttle.refusal(of: request, at: .seconds(1008))?.details.retryAfter == 2)
    }

    @Test("trimming removes only failures whose time is over")
    func forgetting() {
        var throttle = RequestThrottle()
        throttle.failed(request, with: failure(500), at: .seconds(1000))
        throttle.failed(Self.request(token: 2), with: failure(500), at: .seconds(1060))
        throttle.trim(at: .seconds(1119))
        #expect(throttle.count == 2)
        throttle.trim(at: .seconds(1120))
        #expect(throttle.count == 1)
        throttle.failed(Self.request(token: 2), with: failure(500), at: .seconds(1120))
        #expect(throttle.refusal(of: Self.request(token: 2), at: .seconds(1120)) != nil)
    }

    @Test("the answer that the person is needed is repeated for 120 seconds, word for word")
    func interaction() throws {
        var throttle = RequestThrottle()
        let error = BrokerError(.interactionRequired, "sign in", reason: .consentRequired) { $0.subError = "why" }
        throttle.failed(request, with: error, at: .seconds(1000))
        let refusal = try #require(throttle.refusal(of: request, at: .milliseconds(1_119_999)))
        #expect(refusal.kind == .interactionRequired)
        #expect(refusal.reason == .consentRequired)
        #expect(refusal.message == "sign in")
        #expect(refusal.details.subError == "why")
        #expect(throttle.refusal(of: request, at: .seconds(1120)) == nil)
    }

    @Test("other scopes, claims, clients, groups and refresh tokens make another request")
    func others() {
        var throttle = RequestThrottle()
        throttle.failed(request, with: failure(429), at: .zero)
        for other in [
            Self.request(scopes: ["calendar"]), Self.request(claims: "{}"),
            Self.request(app: Sample.app(client: "client-2")), Self.request(app: Sample.app("other")),
            Self.request(token: 2),
        ] {
            #expect(throttle.refusal(of: other, at: .zero) == nil)
        }
        #expect(throttle.refusal(of: Self.request(scopes: ["MAIL.read"]), at: .zero) != nil)
    }

    @Test("an offline error causes no pause", arguments: [ErrorKind.offline, .invalidResponse, .internal])
    func notCounted(kind: ErrorKind) {
        #expect(pause(after: BrokerError(kind, "trouble"), times: 5) == nil)
    }

    @Test("a new sign-in clears the refusals of its account for all clients, and of no other account")
    func clearing() {
        var throttle = RequestThrottle()
        let stranger = Self.request(app: Sample.app("other"))
        let sibling = Self.request(app: Sample.app(client: "client-2"))
        for request in [request, stranger, sibling] { throttle.failed(request, with: failure(429), at: .zero) }
        throttle.clear(.init(Sample.owner()), of: Sample.owner().group, in: Sample.partition)
        #expect(throttle.refusal(of: request, at: .zero) == nil)
        #expect(throttle.refusal(of: sibling, at: .zero) == nil)
        #expect(throttle.refusal(of: stranger, at: .zero) != nil)
    }

    @Test("the owner of a dead refresh token gets the reason for 120 seconds or until a new sign-in")
    func ending() {
        let holder = RequestThrottle.TokenKey(partition: Sample.partition, owner: Sample.owner())
        let error = BrokerError(.interactionRequired, "revoked", reason: .refreshTokenRevoked)
        var throttle = RequestThrottle(limit: 2)
        throttle.ended(holder, with: error, at: .seconds(10))
        throttle.trim(at: .seconds(129))
        #expect(throttle.ending(of: holder, at: .seconds(129))?.reason == .refreshTokenRevoked)
        #expect(throttle.ending(of: holder, at: .seconds(130)) == nil)
        var others = [holder, holder, holder]
        others[0].tokenType = .dpop
        others[1].partition = Partition(uid: 1001)
        others[2].owner.clientID = "client-2"
        for other in others { #expect(throttle.ending(of: other, at: .seconds(10)) == nil) }
        throttle.clear(.init(holder.owner), of: holder.owner.group, in: Sample.partition)
        #expect(throttle.ending(of: holder, at: .seconds(10)) == nil)
    }

    @Test("its memory is bounded, and the oldest entries go first")
    func bounded() {
        var throttle = RequestThrottle(limit: 3)
        for number in 1...5 {
            throttle.failed(
                Self.request(scopes: ["s\(number)"]), with: failure(503, retryAfter: 10 * number), at: .zero)
        }
        #expect(throttle.count == 3)
        #expect(throttle.refusal(of: Self.request(scopes: ["s1"]), at: .zero) == nil)
        #expect(throttle.refusal(of: Self.request(scopes: ["s5"]), at: .zero) != nil)
    }
}

import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Sign-in on another device")
struct DeviceCodeFlowTests {
    private func request(_ change: (inout DeviceCodeRequest) -> Void = { _ in }) -> DeviceCodeRequest {
        var request = DeviceCodeRequest(
            partition: Sample.partition, app: Sample.app(), query: TokenQuery(scopes: ["mail.read"]),
            correlationID: "correlation-1")
        change(&request)
        return request
    }

    /// The code that the client shows, and the waiting acquisition.
    private func begin(
        _ bed: EngineBed, _ request: DeviceCodeRequest
    ) async throws -> (DeviceCodeOpening, Task<AcquiredToken, any Error>) {
        let (stream, continuation) = AsyncStream.makeStream(of: DeviceCodeOpening.self)
        let task = Task { [engine = bed.engine] in
            defer { continuation.finish() }
            return try await engine.acquireByDeviceCode(request) { continuation.yield($0) }
        }
        for await opening in stream { return (opening, task) }
        _ = try await task.value
        throw NothingShown()
    }

    private struct NothingShown: Error {}

    /// Lets the next pause pass, once the broker is in it.
    private func pass(_ bed: EngineBed, seconds: Int64 = 5) async throws {
        try await bed.clock.waitForSleepers()
        bed.clock.advance(bySeconds: seconds)
    }

    /// Cancels a sign-in while the poll is under way that brings its tokens.
    ///
    /// - Returns: the gate at which the poll waits.
    private func cancelDuringSuccess(_ bed: EngineBed) async throws -> Gate {
        let gate = bed.holdTokens(for: "alice")
        let (opening, signIn) = try await begin(bed, request())
        try await pass(bed)
        try await bed.provider.waitForDevicePolls()
        #expect(bed.engine.cancel(interactionID: opening.interactionID, by: .person(Sample.partition)))
        await #expect(throws: BrokerError.self) { try await signIn.value }
        return gate
    }

    private func refuse(_ bed: EngineBed, _ code: String) {
        bed.provider.whenRedeeming { _ throws(ProviderError) in
            throw .refused(OAuthRefusal(error: code, status: 400))
        }
    }

    @Test("the person is shown the code, the broker polls at its interval, and the token is kept")
    func signIn() async throws {
        let bed = try await EngineBed()
        refuse(bed, "authorization_pending")
        let (opening, signIn) = try await begin(bed, request())
        #expect(opening.userCode == "WDJB-MJHT")
        #expect(opening.verificationURI == "https://id.example.org/realm/device")
        #expect(opening.message.contains("WDJB-MJHT") && opening.message.contains(opening.verificationURI))
        #expect(opening.otherHost == nil)
        #expect(opening.expiresOn == Sample.now + 600)
        #expect(opening.interval == 5)
        #expect(bed.provider.devicePolls == 0, "no person types that fast")
        try await pass(bed)
        try await pass(bed)
        try await bed.provider.waitForDevicePolls(2)
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in provider.tokens(for: "alice") }
        try await pass(bed)
        let token = try await signIn.value
        #expect(token.account.username == "alice")
        #expect(bed.provider.devicePolls == 3)
        #expect(bed.provider.deviceRequests.first?.scopes.asGiven.contains("openid") == true)
        let cached = try #require(bed.engine.cached(bed.silent()))
        #expect(try bed.text(cached) == bed.text(token))
        #expect(bed.clock.sleepers == 0)
    }

    @Test("an authority named for one request is used instead of the app's own, and files the account")
    func otherAuthority() async throws {
        let bed = try await EngineBed()
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in provider.tokens(for: "alice") }
        let other = Sample.authority("https://id.example.org/guests")
        let (_, signIn) = try await begin(bed, request { $0.authority = other })
        try await pass(bed)
        let token = try await signIn.value
        #expect(token.token.record.authority == other.url)
        #expect(token.account.authority == other.url)
    }

    @Test("an authority of another kind is refused before the provider is asked")
    func otherKind() async throws {
        let bed = try await EngineBed()
        let wrong = request { $0.authority = Sample.authority("https://login.microsoftonline.com/common") }
        let error = await #expect(throws: BrokerError.self) { try await begin(bed, wrong).1.value }
        #expect(error?.kind == .invalidAuthority)
        #expect(bed.provider.deviceRequests.isEmpty)
    }

    @Test("slow_down is obeyed from then on")
    func slowDown() async throws {
        let bed = try await EngineBed()
        refuse(bed, "slow_down")
        let (_, signIn) = try await begin(bed, request())
        try await pass(bed)
        try await bed.clock.waitForSleepers()
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in provider.tokens(for: "alice") }
        let asleep = bed.clock.sleepers
        bed.clock.advance(bySeconds: 9)
        // No pause is over yet.
        #expect(bed.clock.sleepers == asleep && bed.provider.devicePolls == 1)
        bed.clock.advance(bySeconds: 1)
        #expect(try await signIn.value.account.username == "alice")
    }

    @Test("a provider that cannot be reached is polled less often until the code ends")
    func offline() async throws {
        let bed = try await EngineBed()
        bed.provider.whenRedeeming { _ throws(ProviderError) in throw .offline("no route") }
        let (_, signIn) = try await begin(bed, request())
        var waited: Int64 = 0
        for pause in [5, 10, 20, 40, 60] as [Int64] {
            try await pass(bed, seconds: pause)
            waited += pause
        }
        try await bed.provider.waitForDevicePolls(5)
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in provider.tokens(for: "alice") }
        try await pass(bed, seconds: 60)
        #expect(try await signIn.value.account.username == "alice")
        #expect(bed.provider.devicePolls == 6)
    }

    @Test(
        "a captive portal in between does not end the wait",
        arguments: [ProviderError.untrusted("another certificate"), .refusedByProxy("sign in to the network")])
    func captivePortal(error: ProviderError) async throws {
        let bed = try await EngineBed()
        bed.provider.whenRedeeming { _ throws(ProviderError) in throw error }
        let (_, signIn) = try await begin(bed, request())
        try await pass(bed)
        try await bed.provider.waitForDevicePolls()
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in provider.tokens(for: "alice") }
        try await pass(bed, seconds: 10)
        #expect(try await signIn.value.account.username == "alice")
    }

    @Test("a time-out after a poll that failed says why, and does not blame the person")
    func timedOutInTrouble() async throws {
        let bed = try await EngineBed()
        bed.provider.whenRedeeming { _ throws(ProviderError) in throw .untrusted("The provider is not trusted.") }
        let (_, signIn) = try await begin(bed, request { $0.timeout = 8 })
        try await pass(bed)
        try await bed.provider.waitForDevicePolls()
        try await pass(bed, seconds: 3)
        let error = await #expect(throws: BrokerError.self) { try await signIn.value }
        #expect(error?.kind == .timedOut)
        #expect(error?.message.hasSuffix("The provider is not trusted.") == true)
        #expect(error?.message.contains("Nobody") == false)
    }

    @Test("the wait ends with the code if nobody types it, without another poll")
    func expiry() async throws {
        let bed = try await EngineBed()
        bed.provider.answerDevice(
            with: DeviceAuthorization(
                deviceCode: Secret("d"), userCode: "A", verificationURI: "https://id.example.org/d", expiresIn: 8))
        refuse(bed, "authorization_pending")
        let (_, signIn) = try await begin(bed, request())
        try await pass(bed)
        try await pass(bed, seconds: 3)
        let error = await #expect(throws: BrokerError.self) { try await signIn.value }
        #expect(error?.kind == .timedOut)
        #expect(bed.provider.devicePolls == 1)
    }

    @Test("the app's own timeout can be shorter than the code's lifetime")
    func timeout() async throws {
        let bed = try await EngineBed()
        refuse(bed, "authorization_pending")
        let (opening, signIn) = try await begin(bed, request { $0.timeout = 3 })
        #expect(opening.expiresOn == Sample.now + 3)
        try await pass(bed, seconds: 3)
        let error = await #expect(throws: BrokerError.self) { try await signIn.value }
        #expect(error?.kind == .timedOut)
        #expect(bed.provider.devicePolls == 0)
    }

    @Test(
        "a time-out, or a caller that goes away, ends the wait while the provider gives no code",
        arguments: [true, false])
    func unanswered(leaves: Bool) async throws {
        let bed = try await EngineBed()
        let gate = Gate()
        bed.provider.holdMetadata(at: gate)
        let asked = request { $0.timeout = 3 }
        let signIn = Task { [engine = bed.engine] in try await engine.acquireByDeviceCode(asked) { _ in } }
        try await gate.waitForCallers()
        if leaves { signIn.cancel() } else { try await pass(bed, seconds: 3) }
        let error = await #expect(throws: BrokerError.self) { try await signIn.value }
        #expect(error?.kind == (leaves ? .userCanceled : .timedOut))
        #expect(bed.engine.interactionsOpen == 0)
        gate.open()
        #expect(bed.provider.deviceRequests.isEmpty)
    }

    @Test("the app's own timeout counts from the request on")
    func timeoutFromTheRequest() async throws {
        let bed = try await EngineBed()
        refuse(bed, "authorization_pending")
        let gate = Gate()
        bed.provider.holdMetadata(at: gate)
        async let begun = begin(bed, request { $0.timeout = 5 })
        try await gate.waitForCallers()
        try await pass(bed, seconds: 2)
        gate.open()
        let (opening, signIn) = try await begun
        #expect(opening.expiresOn == Sample.now + 5)
        signIn.cancel()
        await #expect(throws: BrokerError.self) { try await signIn.value }
    }

    @Test(
        "a final answer of the provider ends the wait",
        arguments: [
            ("expired_token", .timedOut), ("invalid_grant", .timedOut), ("access_denied", .userCanceled),
            ("authorization_declined", .userCanceled),
            ("invalid_client", .invalidClient), ("invalid_scope", .invalidScope),
        ] as [(String, ErrorKind)])
    func endings(code: String, kind: ErrorKind) async throws {
        let bed = try await EngineBed()
        refuse(bed, code)
        let (opening, signIn) = try await begin(bed, request())
        try await pass(bed)
        let error = await #expect(throws: BrokerError.self) { try await signIn.value }
        #expect(error?.kind == kind)
        #expect(error?.details.oauthError == code)
        #expect(!bed.engine.cancel(interactionID: opening.interactionID, by: .person(Sample.partition)))
    }

    @Test("a person rejected at the end gets that error instead of a time-out")
    func turnedAway() async throws {
        let bed = try await EngineBed()
        bed.provider.whenRedeeming { _ throws(ProviderError) in
            throw .refused(
                OAuthRefusal(
                    error: "invalid_grant", description: "AADSTS50105: not assigned to a role", status: 400,
                    errorCodes: [50105]))
        }
        let (_, signIn) = try await begin(bed, request())
        try await pass(bed)
        let error = await #expect(throws: BrokerError.self) { try await signIn.value }
        #expect(error?.kind == .interactionRequired)
        #expect(error?.kind.isRetryable == false)
        #expect(error?.details.oauthError == "invalid_grant")
        #expect(error?.details.description == "AADSTS50105: not assigned to a role")
        #expect(bed.provider.devicePolls == 1)
    }

    @Test("interaction.cancel ends the wait at once, but not for another person")
    func cancel() async throws {
        let bed = try await EngineBed()
        refuse(bed, "authorization_pending")
        let (opening, signIn) = try await begin(bed, request())
        #expect(!bed.engine.cancel(interactionID: opening.interactionID, by: .person(Partition(uid: 1001))))
        #expect(bed.engine.cancel(interactionID: opening.interactionID, by: .person(Sample.partition)))
        let error = await #expect(throws: BrokerError.self) { try await signIn.value }
        #expect(error?.kind == .userCanceled)
        #expect(!bed.engine.cancel(interactionID: opening.interactionID, by: .person(Sample.partition)))
        try await bed.clock.waitForNoSleepers()
        #expect(bed.provider.devicePolls == 0)
    }

    @Test("a caller that goes away ends the wait")
    func callerLeaves() async throws {
        let bed = try await EngineBed()
        refuse(bed, "authorization_pending")
        let (opening, signIn) = try await begin(bed, request())
        signIn.cancel()
        let error = await #expect(throws: BrokerError.self) { try await signIn.value }
        #expect(error?.kind == .userCanceled)
        #expect(!bed.engine.cancel(interactionID: opening.interactionID, by: .person(Sample.partition)))
    }

    @Test("a broker that stops answers the waiting requests")
    func drain() async throws {
        let bed = try await EngineBed()
        refuse(bed, "authorization_pending")
        let (_, signIn) = try await begin(bed, request())
        await bed.engine.drain()
        let error = await #expect(throws: BrokerError.self) { try await signIn.value }
        #expect(error?.reason == .interrupted)
    }

    @Test("tokens that arrive after the cancel are revoked and not kept")
    func lateSuccess() async throws {
        let bed = try await EngineBed()
        try await cancelDuringSuccess(bed).open()
        try await bed.provider.waitForRevocations(2)
        #expect(bed.provider.revoked == ["rt-1", "at-1"])
        #expect(try bed.engine.accounts(of: Sample.app(), includeSignedOut: true, in: Sample.partition).isEmpty)
    }

    @Test("the tokens of a canceled sign-in are dropped if a revocation could end an earlier one of the client")
    func lateSuccessBesideGrant() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        try await cancelDuringSuccess(bed).open()
        await bed.engine.drain()
        #expect(bed.provider.revoked.isEmpty)
        #expect(bed.engine.cached(bed.silent()) != nil)
    }

    @Test("a broker that stops waits for a poll under way, and revokes the tokens that it brings")
    func lateSuccessAtStop() async throws {
        let bed = try await EngineBed()
        let gate = try await cancelDuringSuccess(bed)
        let drained = Task.immediate { [engine = bed.engine, provider = bed.provider] in
            await engine.drain()
            return provider.revoked
        }
        gate.open()
        #expect(await drained.value == ["rt-1", "at-1"])
    }

    @Test("a broker that locks waits for a poll under way, and revokes the tokens that it brings")
    func lateSuccessAtLock() async throws {
        let bed = try await EngineBed()
        let gate = try await cancelDuringSuccess(bed)
        #expect(!bed.engine.gate.isIdle(at: bed.clock.uptime, for: .zero))
        async let locked: Void = bed.engine.lock.lock(because: "test")
        gate.open()
        await locked
        await bed.engine.drain()
        #expect(bed.provider.revoked == ["rt-1", "at-1"])
    }

    @Test("the ID token is checked although it has no nonce")
    func forged() async throws {
        let bed = try await EngineBed()
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in provider.tokens(for: "forged") }
        let (_, signIn) = try await begin(bed, request())
        try await pass(bed)
        let error = await #expect(throws: BrokerError.self) { try await signIn.value }
        #expect(error?.kind == .invalidResponse)
        #expect(bed.engine.cached(bed.silent()) == nil)
    }

    @Test("a provider without a device endpoint is named, and a browser suggested")
    func notOffered() async throws {
        let bed = try await EngineBed()
        bed.provider.answerDevice(with: nil)
        let error = await #expect(throws: BrokerError.self) { try await begin(bed, request()) }
        #expect(error?.kind == .unsupported)
        #expect(error?.message.contains("browser") == true)
    }

    @Test("reserved scopes are refused before the provider is asked")
    func reserved() async throws {
        let bed = try await EngineBed()
        let error = await #expect(throws: BrokerError.self) {
            try await begin(bed, request { $0.scopes = Scopes(["OpenID"]) })
        }
        #expect(error?.kind == .invalidParameter)
        #expect(bed.provider.deviceRequests.isEmpty)
    }

    @Test(
        "a bound token is requested with a new key, and a provider without such tokens is refused at once")
    func boundToken() async throws {
        let bed = try await EngineBed()
        let error = await #expect(throws: BrokerError.self) {
            _ = try await begin(bed, request { $0.tokenType = .dpop })
        }
        #expect(error?.kind == .unsupported)
        #expect(bed.provider.deviceRequests.isEmpty)
        bed.provider.offer { $0.dpopAlgorithms = ["ES256"] }
        // A bearer token received all the same is not returned.
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in provider.tokens(for: "alice") }
        let (_, signIn) = try await begin(bed, request { $0.tokenType = .dpop })
        try await pass(bed)
        let refusal = await #expect(throws: BrokerError.self) { try await signIn.value }
        #expect(refusal?.kind == .unsupported)
        #expect(bed.provider.extras.last?.proofKey != nil)
    }
}

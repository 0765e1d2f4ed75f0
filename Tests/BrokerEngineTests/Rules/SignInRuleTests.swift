import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerTokenCache
import BrokerValues
import Testing

@Suite("Sign-in requirements and prompts")
struct SignInRuleTests {
    @Test(
        "the prompt is the app's while signed in, and absent if the app sets none",
        arguments: Prompt.allCases + [nil])
    func asAsked(prompt: Prompt?) throws {
        #expect(try PromptRule.prompt(asked: prompt, isSignedOut: false) == prompt)
    }

    @Test(
        "login is forced after a sign-out, unless consent or a new account is requested",
        arguments: [
            (nil, .login), (.login, .login), (.selectAccount, .login), (.consent, .consent), (.create, .create),
        ] as [(Prompt?, Prompt)])
    func signedOut(asked: Prompt?, expected: Prompt) throws {
        #expect(try PromptRule.prompt(asked: asked, isSignedOut: true) == expected)
    }

    @Test("prompt none fails after a sign-out")
    func signedOutSilently() {
        let error = #expect(throws: BrokerError.self) { try PromptRule.prompt(asked: Prompt.none, isSignedOut: true) }
        #expect(error?.kind == .interactionRequired)
        #expect(error?.reason == .signedOut)
    }

    private func refusal(
        _ username: String = "alice", at time: NumericDate? = nil, _ change: (inout SignInRequirements) -> Void
    ) -> BrokerError? {
        var requirements = SignInRequirements()
        requirements.startedAt = Sample.now
        change(&requirements)
        let issuer = "https://id.example.org/realm"
        do {
            try requirements.check(
                home: HomeAccountID(subject: username.lowercased(), issuer: issuer), environment: "id.example.org",
                username: username, authenticatedAt: time)
            return nil
        } catch {
            return error
        }
    }

    @Test("the requested account is binding, and any other is a mismatch")
    func account() {
        #expect(refusal { $0.account = Sample.account("alice") } == nil)
        #expect(refusal("bob") { $0.account = Sample.account("alice") }?.kind == .mismatchedUser)
        #expect(refusal("Renamed") { $0.account = Sample.account("x", subject: "renamed") } == nil)
    }

    @Test("an account's id from another cloud is another person's")
    func otherCloud() {
        var record = Sample.account("alice").stored.record
        record.environment = "login.example"
        let elsewhere = Sample.entry(record)
        #expect(refusal { $0.account = elsewhere }?.kind == .mismatchedUser)
    }

    @Test("a strict hint is binding in any case, and adds nothing to a requested account")
    func hint() {
        #expect(refusal("Alice") { $0.username = "aLICE" } == nil)
        #expect(refusal("bob") { $0.username = "alice" }?.kind == .mismatchedUser)
        #expect(
            refusal("alice") {
                $0.account = Sample.account("alice")
                $0.username = "old-name"
            } == nil)
    }

    @Test(
        "max_age requires a recent auth_time, with five minutes of clock skew",
        arguments: [
            (60, 0, nil), (60, -360, nil), (60, -361, .interactionRequired), (0, -300, nil),
            (0, -301, .interactionRequired), (60, 100_000, nil), (.max, -1_000_000, nil),
        ] as [(Int64, Int64, ErrorKind?)])
    func maxAge(maxAge: Int64, offset: Int64, expected: ErrorKind?) {
        #expect(refusal(at: Sample.now + offset) { $0.maxAge = maxAge }?.kind == expected)
    }

    @Test("max_age without auth_time is refused, and auth_time is ignored without max_age")
    func noTime() {
        #expect(refusal { $0.maxAge = 60 }?.kind == .invalidResponse)
        #expect(refusal(at: 0) { $0.maxAge = 60 }?.kind == .invalidResponse)
        #expect(refusal(at: 1) { _ in } == nil)
    }

    @Test(
        "a required authentication context must be present and among those named",
        arguments: [
            (nil, nil, true), ("silver", nil, true), (nil, [], false), ("silver", [], true),
            ("silver", ["gold"], false),
            (nil, ["gold"], false), ("gold", ["silver", "gold"], true), ("GOLD", ["gold"], false),
        ] as [(String?, [String]?, Bool)])
    func context(acr: String?, demanded: [String]?, isGood: Bool) {
        var requirements = SignInRequirements()
        requirements.contexts = demanded
        let failure = Result { try requirements.check(acr: acr) }
        if case .failure(let error) = failure {
            #expect(!isGood && (error as? BrokerError)?.kind == .invalidResponse)
        } else {
            #expect(isGood)
        }
    }
}

import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

/// OpenID Connect Core, section 11.
@Suite("A provider that gives refresh tokens only with consent")
struct OfflineConsentTests {
    /// - Parameter gives: whether consent helps.
    private func bed(gives: Bool = true) async throws -> EngineBed {
        let bed = try await EngineBed()
        bed.provider.offer { $0.scopesSupported = ["openid", "profile", "offline_access", "mail.read"] }
        bed.provider.whenRedeeming { [unowned provider = bed.provider] grant in
            if case .refreshToken = grant { return provider.tokens(expiresIn: 600) }
            var tokens = provider.tokens(for: "alice", expiresIn: 600)
            if !gives || provider.authorizations.last?.prompts?.contains("consent") != true {
                tokens.refreshToken = nil
            }
            return tokens
        }
        return bed
    }

    private func refusal(_ bed: EngineBed) async -> BrokerError? {
        do throws(BrokerError) {
            _ = try await bed.engine.acquireSilent(bed.silent())
            return nil
        } catch {
            return error
        }
    }

    private func prompts(_ bed: EngineBed) -> [String?] { bed.provider.authorizations.map(\.prompts) }

    @Test("the missing consent is detected and reported, and the next sign-in asks for it")
    func learned() async throws {
        let bed = try await bed()
        try await bed.signIn()
        bed.clock.advance(bySeconds: 600)
        let error = await refusal(bed)
        #expect(error?.kind == .interactionRequired && error?.reason == .consentRequired)
        try await bed.signIn()
        #expect(prompts(bed) == [nil, "consent"])
        bed.clock.advance(bySeconds: 600)
        #expect(await refusal(bed) == nil)
        // Another person, and another run of the broker: it is the provider's habit.
        let engine = try await bed.restarted()
        let (browser, signIn) = Browser.during { browser in
            try await engine.acquireInteractive(bed.interactive()) { browser.opened($0) }
        }
        _ = try await bed.redirects.visit(browser.opening(), code: "bob")
        _ = try await signIn.value
        #expect(prompts(bed).last == "consent")
    }

    @Test("consent is added to other prompts, and never if no prompt is allowed")
    func together() async throws {
        let bed = try await bed()
        try await bed.signIn()
        for (prompt, sent) in [(Prompt.login, "login consent"), (.selectAccount, "select_account consent")] {
            try await bed.signIn("alice", bed.interactive { $0.prompt = prompt })
            #expect(prompts(bed).last == sent)
        }
        let (browser, signIn) = bed.begin(bed.interactive { $0.prompt = Prompt.none })
        _ = try await bed.redirects.visit(browser.opening(), code: "alice")
        _ = try? await signIn.value
        #expect(prompts(bed).last == "none")
    }

    @Test("consent is not asked for again if it does not help")
    func useless() async throws {
        let bed = try await bed(gives: false)
        for _ in 1...4 { try await bed.signIn() }
        #expect(prompts(bed) == [nil, "consent", nil, nil])
        bed.clock.advance(bySeconds: 600)
        #expect(await refusal(bed)?.reason == .noTokens)
    }

    @Test("a sign-in without a refresh token leaves the earlier one, which keeps the nonce of its own sign-in")
    func earlierNonce() async throws {
        let bed = try await EngineBed()
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in
            var tokens = provider.tokens(for: "alice")
            if provider.grants.count == 2 { tokens.refreshToken = nil }
            return tokens
        }
        for _ in 1...2 { try await bed.signIn() }
        for _ in 1...2 { _ = try await bed.engine.acquireSilent(bed.silent { $0.forceRefresh = true }) }
        let checked = bed.provider.expectations
        let nonce = try #require(checked.first?.nonce)
        #expect(checked.map(\.earlierNonce) == [nil, nil, nonce, nonce])
    }

    @Test("a provider that does not publish offline_access is not asked for more")
    func unpublished() async throws {
        let bed = try await bed(gives: false)
        bed.provider.offer { $0.scopesSupported = nil }
        for _ in 1...2 { try await bed.signIn() }
        #expect(prompts(bed) == [nil, nil])
    }
}

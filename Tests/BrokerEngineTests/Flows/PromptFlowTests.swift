import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Prompts at work")
struct PromptFlowTests {
    @Test(
        "the next sign-in asks for a password after the account was removed from one app"
    )
    func loginAfterRemoval() async throws {
        let bed = try await EngineBed()
        let (one, two) = (Sample.app("one", group: "g"), Sample.app("two", group: "g"))
        bed.roster.set([one, two])
        try await bed.signIn("alice", one)
        try await bed.signIn("alice", two)
        _ = try await bed.engine.remove(.username("alice"), from: one, in: Sample.partition)
        for (app, hintOnly, expected) in [(one, false, Prompt.login), (one, true, .login), (two, false, nil)] {
            let (browser, signIn) = bed.begin(
                bed.interactive(app, ["mail.read"]) {
                    if hintOnly { $0.loginHint = "Alice" } else { $0.account = .username("alice") }
                })
            _ = try await browser.opening()
            #expect(bed.provider.authorizations.last?.prompt == expected)
            signIn.cancel()
            _ = try? await signIn.value
        }
        let silent = bed.interactive(one, ["mail.read"]) {
            $0.account = .username("alice")
            $0.prompt = Prompt.none
        }
        let error = await #expect(throws: BrokerError.self) {
            try await bed.engine.acquireInteractive(silent) { _ in Issue.record("nothing may be opened") }
        }
        #expect(error?.reason == .signedOut)
    }

    @Test(
        "prompt none returns the provider's error if it would have to ask",
        arguments: ["login_required", "consent_required", "interaction_required", "account_selection_required"])
    func promptNone(code: String) async throws {
        let bed = try await EngineBed()
        let (browser, signIn) = bed.begin(
            bed.interactive(Sample.app(), ["mail.read"]) { $0.prompt = Prompt.none })
        let opening = try await browser.opening()
        _ = await bed.redirects.visit(opening.redirectURI, query: "error=\(code)&state=\(opening.state)")
        let error = await #expect(throws: BrokerError.self) { try await signIn.value }
        #expect(error?.kind == .interactionRequired)
        #expect(error?.details.oauthError == code)
    }

    @Test("an ID token hint is sent if prompting is forbidden, and not otherwise")
    func idTokenHint() async throws {
        let bed = try await EngineBed()
        let id = try await bed.signIn().account.id
        func hint(_ change: (inout InteractiveRequest) -> Void) async throws -> String? {
            try await bed.signIn("alice", bed.interactive(Sample.app(), ["mail.read"], change))
            return bed.provider.authorizations.last?.idTokenHint?.revealed()
        }
        func none(_ request: inout InteractiveRequest) { request.prompt = Prompt.none }
        let asked = try await hint {
            none(&$0)
            $0.account = .id(id)
        }
        #expect(asked == "alice")
        let hinted = try await hint {
            none(&$0)
            $0.loginHint = "ALICE"
        }
        #expect(hinted == "alice")
        #expect(try await hint(none) == nil, "any account signed in there will do")
        #expect(try await hint { $0.account = .id(id) } == nil)
    }

    @Test("an unreadable ID token costs the hint, not the sign-in")
    func damagedHint() async throws {
        let bed = try await EngineBed()
        let id = try await bed.signIn().account.id
        bed.vault.damage([.idToken])
        let (browser, signIn) = bed.begin(
            bed.interactive {
                $0.account = .id(id)
                $0.prompt = Prompt.none
            })
        _ = try await browser.opening()
        let request = try #require(bed.provider.authorizations.last)
        #expect(request.prompt == Prompt.none && request.idTokenHint == nil)
        signIn.cancel()
        _ = try? await signIn.value
    }
}

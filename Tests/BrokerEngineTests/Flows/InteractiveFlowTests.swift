import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Interactive sign-in")
struct InteractiveFlowTests {
    @Test("a sign-in gives a token, an account and a page that names the person, then silent requests hit the cache")
    func signIn() async throws {
        let bed = try await EngineBed()
        let (browser, signIn) = bed.begin(bed.interactive())
        let opening = try await browser.opening()
        #expect(opening.expiresOn == Sample.now + 300)
        let page = await bed.redirects.visit(opening, code: "alice")
        let token = try await signIn.value
        #expect(page == .signedIn(username: "alice", app: "mail"))
        #expect(try bed.text(token) == "at-1")
        #expect(token.account.username == "alice")
        #expect(token.account.name == "Alice")
        #expect(!token.fromCache && token.persisted)
        #expect(!bed.redirects.isListening)

        let cached = try #require(bed.engine.cached(bed.silent()))
        #expect(cached.fromCache)
        #expect(try bed.text(cached) == "at-1")
        #expect(try bed.vault.secret(of: try #require(cached.idToken)).revealed() == "alice")
        #expect(bed.provider.refreshes.isEmpty)
    }

    @Test("a wrong state, a foreign issuer and a repeated parameter do not harm a waiting sign-in")
    func foreignRedirects() async throws {
        let bed = try await EngineBed()
        let (browser, signIn) = bed.begin(bed.interactive())
        let opening = try await browser.opening()
        for query in ["code=mallory&state=guessed", "code=mallory", "error=access_denied&state=guessed"] {
            #expect(await bed.redirects.visit(opening.redirectURI, query: query) == .notExpected)
        }
        for (query, why) in [
            (
                "code=mallory&iss=https://evil.example",
                "It did not come from the provider that was asked. It names https://evil.example, and \(Sample.app().authority.url) was asked."
            ),
            // The page shows no foreign text.
            ("code=mallory&iss=Call%20555-0100", "It did not come from the provider that was asked."),
            ("code=mallory&code=alice", "It repeats a parameter, so that its meaning is unclear."),
            ("code=", "It contains neither a code nor an error."),
        ] {
            let page = await bed.redirects.visit(opening.redirectURI, query: "\(query)&state=\(opening.state)")
            #expect(page == .notAccepted(app: "mail", why: why))
        }
        #expect(await bed.redirects.visit(opening, code: "alice") == .signedIn(username: "alice", app: "mail"))
        #expect(try await signIn.value.account.username == "alice")
        #expect(bed.provider.grants.count == 1)
    }

    @Test(
        "a time-out after an unacceptable redirect names the reason")
    func unacceptable() async throws {
        let bed = try await EngineBed()
        let (browser, signIn) = bed.begin(bed.interactive())
        let opening = try await browser.opening()
        _ = await bed.redirects.visit(
            opening.redirectURI, query: "code=mallory&state=\(opening.state)&iss=https://evil.example")
        try await bed.clock.waitForSleepers()
        bed.clock.advance(bySeconds: 300)
        let error = await #expect(throws: BrokerError.self) { try await signIn.value }
        #expect(error?.kind == .timedOut)
        #expect(error?.reason == .answerNotAccepted)
        #expect(error?.message.contains("It did not come from the provider that was asked.") == true)
        #expect(bed.provider.grants.isEmpty)
    }

    @Test("a second redirect with the right state finds the sign-in over")
    func secondRedirect() async throws {
        let bed = try await EngineBed()
        let gate = bed.holdTokens(for: "alice")
        let (browser, signIn) = bed.begin(bed.interactive())
        let opening = try await browser.opening()
        async let first = bed.redirects.visit(opening, code: "alice")
        try await bed.provider.waitForGrants()
        #expect(await bed.redirects.visit(opening, code: "bob") == .notExpected)
        gate.open()
        #expect(await first == .signedIn(username: "alice", app: "mail"))
        #expect(try await signIn.value.account.username == "alice")
    }

    @Test("a redirect delivered by another way is accepted once")
    func pasted() async throws {
        let bed = try await EngineBed()
        let (browser, signIn) = bed.begin(
            bed.interactive(Sample.app(), ["mail.read"]) {
                $0.redirectURI = "msauth.mail://auth"
            })
        let opening = try await browser.opening()
        #expect(opening.redirectURI == "msauth.mail://auth")
        let url = Secret("msauth.mail://auth?code=alice&state=\(opening.state)")
        #expect(throws: BrokerError.self) {
            try bed.engine.complete(
                redirectURL: Secret("msauth.mail://auth?code=x&state=y"), from: .person(Sample.partition))
        }
        #expect(throws: BrokerError.self, "another person's redirect is not for this partition") {
            try bed.engine.complete(redirectURL: url, from: .person(Partition(uid: 1001)))
        }
        let elsewhere = Secret("msauth.other://auth?code=mallory&state=\(opening.state)")
        let refusal = #expect(throws: BrokerError.self, "a redirect of another provider comes to another address") {
            try bed.engine.complete(redirectURL: elsewhere, from: .person(Sample.partition))
        }
        #expect(refusal?.reason == .answerNotAccepted)
        try bed.engine.complete(redirectURL: url, from: .person(Sample.partition))
        #expect(throws: BrokerError.self) { try bed.engine.complete(redirectURL: url, from: .person(Sample.partition)) }
        #expect(try await signIn.value.account.username == "alice")
    }

    @Test("the wait times out with an error if the browser does not come back")
    func timeout() async throws {
        let bed = try await EngineBed()
        let (browser, signIn) = bed.begin(bed.interactive())
        let opening = try await browser.opening()
        try await bed.clock.waitForSleepers()
        bed.clock.advance(bySeconds: 299)
        #expect(bed.redirects.isListening)
        bed.clock.advance(bySeconds: 1)
        let error = await #expect(throws: BrokerError.self) { try await signIn.value }
        #expect(error?.kind == .timedOut)
        #expect(error?.reason == nil)
        #expect(!bed.redirects.isListening)
        #expect(await bed.redirects.visit(opening, code: "alice") == nil)
    }

    @Test("cancel ends the wait, and a second cancel finds nothing")
    func cancel() async throws {
        let bed = try await EngineBed()
        let (browser, signIn) = bed.begin(bed.interactive())
        let opening = try await browser.opening()
        #expect(!bed.engine.cancel(interactionID: opening.interactionID, by: .person(Partition(uid: 1001))))
        #expect(bed.engine.cancel(interactionID: opening.interactionID, by: .person(Sample.partition)))
        let error = await #expect(throws: BrokerError.self) { try await signIn.value }
        #expect(error?.kind == .userCanceled)
        #expect(!bed.engine.cancel(interactionID: opening.interactionID, by: .person(Sample.partition)))
    }

    @Test("a caller that goes away ends its sign-in")
    func callerLeaves() async throws {
        let bed = try await EngineBed()
        let (browser, signIn) = bed.begin(bed.interactive())
        _ = try await browser.opening()
        signIn.cancel()
        await #expect(throws: BrokerError.self) { try await signIn.value }
        #expect(!bed.redirects.isListening)
    }

    @Test("no window opens for a caller that went away while the provider was asked")
    func callerLeavesEarly() async throws {
        let bed = try await EngineBed()
        let (opened, gate) = (Recorder<InteractionOpening>(), Gate())
        let signIn = Task {
            await gate.wait()
            return try await bed.engine.acquireInteractive(bed.interactive()) { opened.add($0) }
        }
        bed.provider.offer { _ in signIn.cancel() }
        gate.open()
        await #expect(throws: BrokerError.self) { try await signIn.value }
        #expect(opened.all.isEmpty)
    }

    @Test("a refusal by the person ends the sign-in")
    func denied() async throws {
        let bed = try await EngineBed()
        let (browser, signIn) = bed.begin(bed.interactive())
        let opening = try await browser.opening()
        let page = await bed.redirects.visit(opening.redirectURI, query: "error=access_denied&state=\(opening.state)")
        #expect(page == .canceled(app: "mail"))
        let error = await #expect(throws: BrokerError.self) { try await signIn.value }
        #expect(error?.kind == .userCanceled)
        #expect(error?.details.oauthError == "access_denied")
    }

    @Test("a forged ID token fails the sign-in, and nothing is kept")
    func forged() async throws {
        let bed = try await EngineBed()
        let error = await #expect(throws: BrokerError.self) { try await bed.signIn("forged") }
        #expect(error?.kind == .invalidResponse)
        #expect(try bed.vault.statistics().records == 0)
    }

    @Test("another person than the requested one is a mismatch, and their tokens are not kept")
    func mismatch() async throws {
        let bed = try await EngineBed()
        try await bed.signIn("alice")
        let (browser, again) = bed.begin(
            bed.interactive(Sample.app(), ["mail.read"]) {
                $0.account = .username("alice")
            })
        let opening = try await browser.opening()
        #expect(bed.provider.authorizations.last?.loginHint == "alice")
        _ = await bed.redirects.visit(opening, code: "bob")
        let error = await #expect(throws: BrokerError.self) { try await again.value }
        #expect(error?.kind == .mismatchedUser)
        #expect(
            try bed.engine.accounts(of: nil, includeSignedOut: true, in: Sample.partition).map(\.username) == ["alice"])
        try await bed.provider.waitForRevocations(2)
        #expect(bed.provider.revoked == ["rt-2", "at-2"], "nothing of theirs lives on at the provider")
    }

    @Test("another person than a strict hint's is a mismatch, and nothing of them is kept")
    func strictHint() async throws {
        let bed = try await EngineBed()
        for (person, isRight) in [("bob", false), ("alice", true)] {
            let (browser, signIn) = bed.begin(
                bed.interactive(Sample.app(), ["mail.read"]) {
                    $0.loginHint = "ALICE"
                    $0.isHintBinding = true
                })
            let opening = try await browser.opening()
            #expect(bed.provider.authorizations.last?.loginHint == "ALICE")
            _ = await bed.redirects.visit(opening, code: person)
            if isRight {
                #expect(try await signIn.value.account.username == "alice")
            } else {
                let error = await #expect(throws: BrokerError.self) { try await signIn.value }
                #expect(error?.kind == .mismatchedUser)
                #expect(try bed.vault.statistics().records == 0)
            }
        }
    }

    @Test("the request's parameters are sent, with capabilities and claims combined")
    func authorization() async throws {
        let bed = try await EngineBed()
        let (browser, signIn) = bed.begin(
            bed.interactive(Sample.app(), ["mail.read"]) {
                $0.prompt = .create
                $0.loginHint = "alice"
                $0.domainHint = "example.org"
                $0.claims = #"{"id_token":null}"#
                $0.clientCapabilities = ["cp1"]
                $0.maxAge = 60
                $0.acrValues = ["c1", "c2"]
                $0.resources = ["https://api.example"]
                $0.extraScopesToConsent = Scopes(["files"])
                $0.extraQueryParameters = ["ui": "dark"]
            })
        _ = try await browser.opening()
        let sent = try #require(bed.provider.authorizations.first)
        #expect(sent.prompt == .create)
        #expect((sent.loginHint, sent.domainHint) == ("alice", "example.org"))
        #expect(sent.claims == #"{"access_token":{"xms_cc":{"values":["cp1"]}},"id_token":null}"#)
        #expect(sent.maxAge == 60)
        #expect(sent.acrValues == ["c1", "c2"])
        #expect(sent.resources == ["https://api.example"])
        #expect(sent.scopes == Scopes(["openid", "profile", "offline_access", "mail.read", "files"]))
        #expect(sent.extraQueryParameters == ["ui": "dark"])
        signIn.cancel()
        _ = try? await signIn.value
    }

    @Test("an essential acr that the ID token lacks ends the sign-in, while a voluntary one does not")
    func essentialContext() async throws {
        let bed = try await EngineBed()
        func signIn(_ claims: String) async throws -> BrokerError? {
            let (browser, signIn) = bed.begin(bed.interactive { $0.claims = claims })
            _ = try await bed.redirects.visit(browser.opening(), code: "alice")
            if case .failure(let error) = await signIn.result { return error as? BrokerError }
            return nil
        }
        let essential = try await signIn(#"{"id_token":{"acr":{"essential":true,"values":["gold"]}}}"#)
        #expect(essential?.kind == .invalidResponse)
        #expect(bed.engine.cached(bed.silent()) == nil)
        #expect(try await signIn(#"{"id_token":{"acr":{"values":["gold"]}}}"#) == nil)
        #expect(bed.engine.cached(bed.silent()) != nil)
    }

    @Test("an ID token is checked against the tokens of the response, the client's secret and the sign-in's nonce")
    func idTokenExpectations() async throws {
        let bed = try await EngineBed()
        var app = Sample.app()
        app.clientSecret = Secret("s-1")
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in provider.tokens(for: "alice") }
        try await bed.signIn("alice", app)
        _ = try await bed.engine.acquireSilent(bed.silent(app) { $0.forceRefresh = true })
        let checked = bed.provider.expectations
        #expect(checked.map(\.accessToken) == [Secret("at-1"), nil], "a refresh may bring an earlier access token")
        #expect(checked.map(\.clientSecret) == [Secret("s-1"), Secret("s-1")])
        #expect(checked.map { $0.nonce == nil } == [false, true])
        #expect(checked.map(\.earlierNonce) == [nil, checked.first?.nonce])
    }

    @Test("declined scopes are reported, and the token is cached for the granted ones")
    func declined() async throws {
        let bed = try await EngineBed()
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in
            provider.tokens(for: "alice", scope: "openid mail.read")
        }
        let error = await #expect(throws: BrokerError.self) {
            try await bed.signIn("alice", Sample.app(), ["mail.read", "calendar"])
        }
        #expect(error?.kind == .serverDeclinedScopes)
        #expect(error?.details.declinedScopes == ["calendar"])
        #expect(error?.details.grantedScopes == ["mail.read"])
        #expect(error?.details.accounts?.map(\.username) == ["alice"])
        #expect(bed.engine.cached(bed.silent()) != nil)
    }

    @Test(
        "a missing email scope is not declined, and a silent request for the granted scopes succeeds")
    func declinedEmail() async throws {
        let bed = try await EngineBed()
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in
            provider.tokens(for: "alice", scope: "openid mail.read")
        }
        try await bed.signIn("alice", Sample.app(), ["mail.read", "email"])
        for scopes in [["mail.read"], ["mail.read", "email"]] {
            #expect(try await bed.engine.acquireSilent(bed.silent(Sample.app(), scopes)).fromCache)
        }
        // A provider that is asked for more than it granted would refuse the refresh.
        let request = bed.silent(Sample.app(), ["mail.read", "email"]) { $0.forceRefresh = true }
        #expect(try await !bed.engine.acquireSilent(request).fromCache)
        #expect(bed.provider.lastRefreshScopes == Scopes(["openid", "mail.read"]))
    }

    @Test(
        "parameters that the broker sets cannot be set from outside",
        arguments: [
            "state", "Code_Challenge", "redirect_uri", "claims", "CLAIMS", "max_age", "acr_values", "resource",
            // PHP's way to read names.
            "redirect.uri", "code challenge", " nonce", "scope[]", "claims[id_token]",
            "redirect[uri", "code[challenge",
        ])
    func ownParameters(name: String) async throws {
        let bed = try await EngineBed()
        let request = bed.interactive(Sample.app(), ["mail.read"]) {
            $0.extraQueryParameters = [name: "x"]
            $0.maxAge = 60
            $0.acrValues = ["c1"]
        }
        let error = await #expect(throws: BrokerError.self) {
            try await bed.engine.acquireInteractive(request) { _ in }
        }
        #expect(error?.kind == .invalidParameter)
    }

    @Test("a taken port is an error before any browser opens")
    func portInUse() async throws {
        let bed = try await EngineBed()
        let request = bed.interactive(Sample.app(), ["mail.read"]) { $0.redirectURI = "http://127.0.0.1:1/cb" }
        let error = await #expect(throws: BrokerError.self) {
            try await bed.engine.acquireInteractive(request) { _ in Issue.record("nothing may be opened") }
        }
        #expect(error?.kind == .invalidParameter)
    }

    @Test("two sign-ins at once each get their own redirect")
    func sideBySide() async throws {
        let bed = try await EngineBed()
        let (first, one) = bed.begin(bed.interactive(Sample.app("one")))
        let (second, two) = bed.begin(bed.interactive(Sample.app("two")))
        let (openingOne, openingTwo) = (try await first.opening(), try await second.opening())
        _ = await bed.redirects.visit(openingTwo, code: "bob")
        _ = await bed.redirects.visit(openingOne, code: "alice")
        #expect(try await one.value.account.username == "alice")
        #expect(try await two.value.account.username == "bob")
    }

    @Test("a sign-in that is kept does not fail because its tokens have left memory and the vault cannot be read")
    func keptForGood() async throws {
        let bed = try await EngineBed()
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in
            var response = provider.tokens(for: "alice")
            (response.accessToken, response.refreshToken) = (Secret(String(repeating: "a", count: 200_000)), nil)
            return response
        }
        let subscription = bed.engine.observe { [engine = bed.engine, vault = bed.vault] event in
            guard case .account = event.change else { return }
            engine.trim()
            vault.failReading(.accessToken, .io("The disk is broken."))
        }
        #expect(try await bed.signIn().account.username == "alice")
        withExtendedLifetime(subscription) { #expect(bed.engine.cached(bed.silent()) == nil) }
    }

    @Test("shutdown tells waiting requests that their sign-in was interrupted, not that it never began")
    func drain() async throws {
        let bed = try await EngineBed()
        let (browser, signIn) = bed.begin(bed.interactive())
        _ = try await browser.opening()
        await bed.engine.drain()
        let error = await #expect(throws: BrokerError.self) { try await signIn.value }
        #expect(error?.reason == .interrupted)
    }
}

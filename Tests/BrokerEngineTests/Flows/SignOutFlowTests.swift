import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Sign-out")
struct SignOutFlowTests {
    private let mail = Sample.app("mail", client: "client-1", group: "office")
    private let calendar = Sample.app("calendar", client: "client-1", group: "office")
    private let notes = Sample.app("notes", client: "client-2", group: "office")
    private let stranger = Sample.app("stranger", client: "client-1")

    private func request(
        _ app: AppRegistration?, _ change: (inout SignOutRequest) -> Void = { _ in }
    ) -> SignOutRequest {
        var request = SignOutRequest(
            partition: Sample.partition, account: .username("ALICE"), correlationID: "correlation-1")
        request.app = app
        change(&request)
        return request
    }

    private func signOut(_ bed: EngineBed, _ request: SignOutRequest) async throws -> SignOutStages {
        try await bed.engine.signOut(request) { _ in }
    }

    private func isSignedIn(_ bed: EngineBed, _ app: AppRegistration) -> Bool {
        bed.engine.cached(bed.silent(app)) != nil
    }

    @Test("a local sign-out removes the app's tokens and remembers the account, and does nothing else")
    func local() async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail])
        try await bed.signIn("alice", mail)
        let stages = try await signOut(bed, request(mail))
        #expect(stages.local == .done)
        #expect(stages.wipe == .skipped && stages.revocation == .skipped && stages.browser == .skipped)
        let error = await #expect(throws: BrokerError.self) { try await bed.engine.acquireSilent(bed.silent(mail)) }
        #expect(error?.reason == .signedOut)
        #expect(try bed.engine.accounts(of: mail, includeSignedOut: false, in: Sample.partition).isEmpty)
        let remembered = try bed.engine.accounts(of: mail, includeSignedOut: true, in: Sample.partition)
        #expect(remembered.map(\.username) == ["alice"])
        #expect(try bed.vault.loadAll(RefreshTokenRecord.self, in: Sample.partition).isEmpty)
        #expect(try bed.vault.loadAll(AccessTokenRecord.self, in: Sample.partition).isEmpty)
        #expect(try bed.vault.loadAll(IDTokenRecord.self, in: Sample.partition).isEmpty)
        #expect(bed.provider.revoked.isEmpty)
    }

    @Test("a client whose id only looks the same uses other tokens, and keeps none that are to be removed")
    func lookAlikes() async throws {
        let mine = Sample.app("mine", client: "caf\u{e9}", group: "office")
        let other = Sample.app("other", client: "cafe\u{301}", group: "office")
        let bed = try await EngineBed()
        bed.roster.set([mine, other])
        try await bed.signIn("alice", mine)
        try await bed.signIn("alice", other)
        #expect(try await signOut(bed, request(mine)).local == .done)
        let left = try bed.vault.loadAll(RefreshTokenRecord.self, in: Sample.partition).map(\.record.owner.clientID)
        #expect(left.map { Array($0.utf8) } == [Array("cafe\u{301}".utf8)])
        #expect(isSignedIn(bed, other))
    }

    @Test("the next sign-in without an account asks for the password, and the one after that does not")
    func loginAfterwards() async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail])
        try await bed.signIn("alice", mail)
        _ = try await signOut(bed, request(mail))
        let restarted = try await bed.restarted()
        let (browser, signIn) = Browser.during { [interactive = bed.interactive(mail)] browser in
            try await restarted.acquireInteractive(interactive) { browser.opened($0) }
        }
        _ = try await bed.redirects.visit(browser.opening(), code: "alice")
        #expect(try await signIn.value.account.signedIn)
        #expect(bed.provider.authorizations.map(\.prompt) == [nil, .login])
        let answer = try await restarted.currentAccount(of: mail, in: Sample.partition)
        #expect(answer.current?.username == "alice" && answer.previous == nil)
    }

    @Test("an app learns once of a changed current account, whichever app signed in, also after a restart")
    func previous() async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail, calendar])
        func ask(_ app: AppRegistration, of engine: TokenBroker) async throws -> [String?] {
            let answer = try await engine.currentAccount(of: app, in: Sample.partition)
            return [answer.current, answer.previous, answer.lastSignedOut].map { $0?.username }
        }
        try await bed.signIn("alice", mail)
        #expect(try await ask(mail, of: bed.engine) == ["alice", nil, nil])
        #expect(try await ask(calendar, of: bed.engine) == ["alice", nil, nil])
        _ = try await signOut(bed, request(nil))
        try await bed.signIn("bob", mail)
        // This app signed him in itself; the other one had not learned of it.
        #expect(try await ask(mail, of: bed.engine) == ["bob", nil, "alice"])
        let restarted = try await bed.restarted()
        #expect(try await ask(calendar, of: restarted) == ["bob", "alice", "alice"])
        #expect(try await ask(calendar, of: restarted) == ["bob", nil, "alice"])
    }

    @Test("an app learns once that its account is no longer current")
    func nobody() async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail])
        try await bed.signIn("alice", mail)
        _ = try await signOut(bed, request(mail))
        let first = try await bed.engine.currentAccount(of: mail, in: Sample.partition)
        #expect(first.current == nil && first.previous?.username == "alice")
        let second = try await bed.engine.currentAccount(of: mail, in: Sample.partition)
        #expect(second.current == nil && second.previous == nil && second.lastSignedOut?.username == "alice")
    }

    @Test("apps of the group that use the account keep it with the shared tokens")
    func others() async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail, calendar, notes])
        try await bed.signIn("alice", mail)
        try await bed.signIn("alice", notes)
        #expect(try await signOut(bed, request(mail)).local == .done)
        #expect(!isSignedIn(bed, mail))
        #expect(isSignedIn(bed, calendar) && isSignedIn(bed, notes))
        #expect(try await signOut(bed, request(calendar)).local == .done)
        #expect(!isSignedIn(bed, calendar) && isSignedIn(bed, notes))
        let clients = try bed.vault.loadAll(RefreshTokenRecord.self, in: Sample.partition).map(\.record.owner.clientID)
        #expect(clients == ["client-2"])
    }

    @Test("wipe removes the tokens of all apps of the group, and of no other group")
    func wipe() async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail, notes, stranger])
        for app in [mail, notes, stranger] { try await bed.signIn("alice", app) }
        let stages = try await signOut(bed, request(mail) { $0.wipe = true })
        #expect(stages.local == .done && stages.wipe == .done)
        #expect(!isSignedIn(bed, mail) && !isSignedIn(bed, notes))
        #expect(isSignedIn(bed, stranger))
    }

    @Test("a sign-out without an app removes the tokens of all groups and unregistered apps")
    func everything() async throws {
        let bed = try await EngineBed()
        for app in [mail, notes, stranger] { try await bed.signIn("alice", app) }
        try await bed.signIn("bob", mail)
        let stages = try await signOut(bed, request(nil))
        #expect(stages.local == .done && stages.wipe == .done)
        let left = try bed.vault.loadAll(RefreshTokenRecord.self, in: Sample.partition)
        #expect(left.map(\.record.owner.homeAccountID) == [HomeAccountID(subject: "bob", issuer: mail.authority.url)])
    }

    @Test("an app's sign-out on a shared device covers all apps")
    func sharedDevice() async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail, notes, stranger])
        for app in [mail, stranger] { try await bed.signIn("alice", app) }
        var settings = EngineSettings()
        settings.isSharedDevice = true
        bed.engine.apply(settings)
        let stages = try await signOut(bed, request(mail))
        #expect(stages.wipe == .done)
        #expect(!isSignedIn(bed, mail) && !isSignedIn(bed, stranger))
    }

    @Test("revocation is requested, and its failure does not keep the tokens here")
    func revocation() async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail])
        try await bed.signIn("alice", mail)
        #expect(try await signOut(bed, request(mail) { $0.revoke = true }).revocation == .done)
        #expect(bed.provider.revoked == ["rt-1"])

        try await bed.signIn("alice", mail)
        bed.provider.failRevocation(.offline("There is no network."))
        let stages = try await signOut(bed, request(mail) { $0.revoke = true })
        #expect(stages.local == .done)
        #expect(stages.revocation == .failed("There is no network."))
        #expect(!isSignedIn(bed, mail))
    }

    @Test("the journal quotes a provider only if names may be logged", arguments: [true, false])
    func quotes(isAllowed: Bool) async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail])
        var settings = EngineSettings()
        settings.quotesProviders = isAllowed
        bed.engine.apply(settings)
        try await bed.signIn("alice", mail)
        bed.provider.failRevocation(.invalidResponse(status: 400, "The provider says: unknown user alice@example.org"))
        _ = try await signOut(bed, request(mail) { $0.revoke = true })
        #expect(bed.log.text.contains("a refresh token could not be revoked"))
        #expect(bed.log.text.contains("alice@example.org") == isAllowed)
    }

    @Test("two providers with the same client id never get each other's secret")
    func revocationWithSecrets() async throws {
        let bed = try await EngineBed()
        var (here, elsewhere) = (Sample.app("here", client: "same"), Sample.app("elsewhere", client: "same"))
        elsewhere.authority = Sample.authority("https://other.example")
        elsewhere.clientSecret = Secret("of-elsewhere")
        for secret in [nil, Secret("of-here")] {
            here.clientSecret = secret
            bed.roster.set([elsewhere, here])
            try await bed.signIn("alice", here)
            // By the person's own tools, which are not an app.
            #expect(try await signOut(bed, request(nil) { $0.revoke = true }).revocation == .done)
            let told = try #require(bed.provider.told.last)
            #expect(told.place == here.authority)
            #expect(told.client.secret == secret)
        }
    }

    @Test("a refresh token that another app uses is not revoked")
    func sharedRevocation() async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail, calendar])
        try await bed.signIn("alice", mail)
        let stages = try await signOut(bed, request(mail) { $0.revoke = true })
        #expect(stages.revocation.failure != nil)
        #expect(bed.provider.revoked.isEmpty)
        #expect(isSignedIn(bed, calendar))
    }

    // MARK: The browser

    private func begin(
        _ bed: EngineBed, _ change: (inout SignOutRequest) -> Void = { _ in }
    ) async throws -> (InteractionOpening, Task<SignOutStages, any Error>) {
        bed.roster.set([mail])
        bed.provider.offer { $0.endSessionEndpoint = "https://id.example.org/logout" }
        try await bed.signIn("alice", mail)
        let request = request(mail) {
            $0.fromBrowser = true
            change(&$0)
        }
        let (browser, signOut) = Browser.during { [engine = bed.engine] browser in
            try await engine.signOut(request) { browser.opened($0) }
        }
        return (try await browser.opening(), signOut)
    }

    @Test("the browser goes to the provider with an ID token hint, and is done when it returns with our state")
    func browserReturns() async throws {
        let bed = try await EngineBed()
        let (opening, signOut) = try await begin(bed)
        #expect(opening.url.hasPrefix("https://id.example.org/logout?"))
        #expect(opening.expiresOn == Sample.now + 120)
        let asked = try #require(bed.provider.endedSessions.first)
        #expect(asked.idTokenHint?.revealed() == "alice")
        #expect(asked.clientID == "client-1")
        #expect(asked.postLogoutRedirectURI == opening.redirectURI)
        #expect(!isSignedIn(bed, mail), "the tokens do not wait for the browser")
        #expect(await bed.redirects.visit(opening.redirectURI, query: "state=guessed") == .notExpected)
        #expect(
            await bed.redirects.visit(opening.redirectURI, query: "state=\(opening.state)") == .signedOut(app: "mail"))
        #expect(try await signOut.value.browser == .done)
        #expect(!bed.redirects.isListening)
    }

    @Test("the page is that of the account's own issuer, and a neighbour on the host never sees its ID token")
    func neighbours() async throws {
        let bed = try await EngineBed()
        bed.provider.offer { $0.endSessionEndpoint = $0.authority.url + "/logout" }
        var (here, next) = (Sample.app("mail-a", group: "office"), Sample.app("mail-b", group: "office"))
        here.authority = Sample.authority("https://id.example.org/realms/a")
        next.authority = Sample.authority("https://id.example.org/realms/b")
        let id = try await bed.signIn("alice", here).account.id
        let asked = request(next) {
            $0.account = .id(id)
            $0.fromBrowser = true
            $0.wipe = true
        }
        // No app is registered at the account's issuer: the outcome says so, and nothing is opened.
        bed.roster.set([next])
        let stages = try await signOut(bed, asked)
        #expect(stages.local == .done)
        #expect(stages.browser == .failed("no app is registered that could end the browser's session."))
        #expect(bed.provider.endedSessions.isEmpty)

        _ = try await bed.signIn("alice", here)
        bed.roster.set([next, here])
        let (browser, ending) = Browser.during { [engine = bed.engine, asked] browser in
            try await engine.signOut(asked) { browser.opened($0) }
        }
        let opening = try await browser.opening()
        #expect(opening.url.hasPrefix("https://id.example.org/realms/a/logout"))
        #expect(bed.provider.endedSessions.last?.idTokenHint?.revealed() == "alice")
        _ = await bed.redirects.visit(opening.redirectURI, query: "state=\(opening.state)")
        #expect(try await ending.value.browser == .done)
    }

    @Test("a token is revoked with its own issuer's credentials, not with a neighbour's secret")
    func revocationAmongNeighbours() async throws {
        let bed = try await EngineBed()
        var (here, next) = (Sample.app("mail-a", group: "office"), Sample.app("mail-b", group: "office"))
        here.authority = Sample.authority("https://id.example.org/realms/a")
        here.clientSecret = Secret("of-a")
        next.authority = Sample.authority("https://id.example.org/realms/b")
        next.clientSecret = Secret("of-b")
        bed.roster.set([next, here])
        try await bed.signIn("alice", here)
        #expect(try await signOut(bed, request(nil) { $0.revoke = true }).revocation == .done)
        let told = try #require(bed.provider.told.last)
        #expect(told.place == here.authority && told.client.secret == Secret("of-a"))
    }

    @Test("a person who closes the page is done")
    func browserClosed() async throws {
        let bed = try await EngineBed()
        let (opening, signOut) = try await begin(bed)
        #expect(bed.engine.cancel(interactionID: opening.interactionID, by: .person(Sample.partition)))
        #expect(try await signOut.value.browser == .done)
    }

    @Test("a browser that does not come back in time has failed, and the tokens are removed")
    func browserTimeout() async throws {
        let bed = try await EngineBed()
        let (_, signOut) = try await begin(bed) { $0.timeout = 7 }
        try await bed.clock.waitForSleepers()
        bed.clock.advance(bySeconds: 7)
        let stages = try await signOut.value
        #expect(stages.local == .done)
        #expect(stages.browser.failure?.contains("7 seconds") == true)
        #expect(!bed.redirects.isListening)
    }

    @Test("a provider that does not answer the discovery has failed in time as well, and no page opens")
    func discoveryTimeout() async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail])
        try await bed.signIn("alice", mail)
        let gate = Gate()
        bed.provider.holdMetadata(at: gate)
        let asked = request(mail) { ($0.fromBrowser, $0.timeout) = (true, 7) }
        let signOut = Task { [engine = bed.engine] in
            try await engine.signOut(asked) { _ in Issue.record("a page opened") }
        }
        try await gate.waitForCallers()
        try await bed.clock.waitForSleepers()
        bed.clock.advance(bySeconds: 7)
        let stages = try await signOut.value
        gate.open()
        #expect(stages.local == .done && stages.browser.failure?.contains("7 seconds") == true)
        #expect(bed.engine.interactionsOpen == 0)
    }

    @Test("a provider without such a page is named as the reason")
    func noEndSession() async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail])
        try await bed.signIn("alice", mail)
        let stages = try await signOut(bed, request(mail) { $0.fromBrowser = true })
        #expect(stages.local == .done)
        #expect(stages.browser == .failed("the provider offers no page that ends the browser's session."))
    }

    @Test("an unknown account is an error")
    func unknown() async throws {
        let bed = try await EngineBed()
        let error = await #expect(throws: BrokerError.self) { try await signOut(bed, request(mail)) }
        #expect(error?.kind == .accountNotFound)
    }

    @Test("a refresh in flight does not bring the account back")
    func refreshUnderWay() async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail])
        try await bed.signIn("alice", mail)
        let gate = bed.holdTokens(for: "alice")
        let silent = bed.silent(mail) { $0.forceRefresh = true }
        let refresh = Task { [engine = bed.engine] in try await engine.acquireSilent(silent) }
        try await bed.provider.waitForRefreshes()
        #expect(try await signOut(bed, request(mail)).local == .done)
        gate.open()
        let error = await #expect(throws: BrokerError.self) { try await refresh.value }
        #expect(error?.reason == .signedOut)
        #expect(error?.details.accounts?.map(\.signedIn) == [false])
        #expect(try bed.vault.loadAll(RefreshTokenRecord.self, in: Sample.partition).isEmpty)
        #expect(try bed.engine.accounts(of: mail, includeSignedOut: false, in: Sample.partition).isEmpty)
    }
}

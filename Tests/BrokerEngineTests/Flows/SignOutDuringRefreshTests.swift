import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

/// The result of a refresh that was in flight when the person signed out.
@Suite("Sign-out during a refresh")
struct SignOutDuringRefreshTests {
    private let mail = Sample.app("mail", client: "client-1", group: "office")
    private let calendar = Sample.app("calendar", client: "client-1", group: "office")
    private let notes = Sample.app("notes", client: "client-2", group: "office")

    /// Ways to sign one app out.
    enum Way: CaseIterable {
        case signOut, remove

        func callAsFunction(_ app: AppRegistration, on bed: EngineBed) async throws {
            switch self {
            case .signOut:
                var request = SignOutRequest(
                    partition: Sample.partition, account: .username("alice"), correlationID: "correlation-1")
                request.app = app
                #expect(try await bed.engine.signOut(request) { _ in }.local == .done)
            case .remove:
                _ = try await bed.engine.remove(.username("alice"), from: app, in: Sample.partition)
            }
        }
    }

    /// A forced refresh for the app that the provider holds, and answers when the gate opens. The first response's ID token is as
    /// given; codes are redeemed at once.
    private func refreshing(
        _ bed: EngineBed, idToken: String, _ app: AppRegistration? = nil
    ) async throws -> (gate: Gate, refresh: Task<AcquiredToken, any Error>) {
        let gate = Gate()
        bed.provider.whenRedeeming { [unowned provider = bed.provider] grant in
            guard case .refreshToken(let spent, _) = grant, spent.revealed() == "rt-1" else {
                return provider.tokens(for: "alice")
            }
            await gate.wait()
            return provider.tokens(for: idToken)
        }
        let silent = bed.silent(app ?? mail) { $0.forceRefresh = true }
        let refresh = Task { [engine = bed.engine] in try await engine.acquireSilent(silent) }
        try await bed.provider.waitForRefreshes()
        return (gate, refresh)
    }

    /// A refresh that fails when the gate opens, because the provider cannot be reached.
    private func unanswered(
        _ bed: EngineBed
    ) async throws -> (gate: Gate, refresh: Task<AcquiredToken, any Error>) {
        let gate = Gate()
        bed.provider.whenRedeeming { _ throws(ProviderError) in
            await gate.wait()
            throw .offline("no route")
        }
        let silent = bed.silent(mail)
        let refresh = Task { [engine = bed.engine] in try await engine.acquireSilent(silent) }
        try await bed.provider.waitForRefreshes()
        return (gate, refresh)
    }

    private func refreshTokens(_ bed: EngineBed, of client: String = "client-1") throws -> [String] {
        try bed.vault.loadAll(RefreshTokenRecord.self, in: Sample.partition)
            .filter { $0.record.owner.clientID == client }
            .map { try bed.vault.secret(of: $0.sealed).revealed() }
    }

    @Test(
        "a rotated refresh token is not salvaged from a bad response after a sign-out",
        arguments: Way.allCases)
    func noRescue(_ way: Way) async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail])
        try await bed.signIn("alice", mail)
        let (gate, refresh) = try await refreshing(bed, idToken: "forged")
        try await way(mail, on: bed)
        gate.open()
        await #expect(throws: BrokerError.self) { try await refresh.value }
        #expect(try refreshTokens(bed).isEmpty)
        // Nor in memory: a new sign-in has one refresh token, the new one.
        try await bed.signIn("alice", mail)
        _ = try await bed.engine.acquireSilent(bed.silent(mail) { $0.forceRefresh = true })
        #expect(bed.provider.refreshes == ["rt-1", "rt-3"])
    }

    @Test(
        "a refresh token is not sent after a sign-out that came while the provider's metadata was fetched",
        arguments: Way.allCases, [false, true])
    func notSent(_ way: Way, isMarked: Bool) async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail])
        try await bed.signIn("alice", mail)
        let request = bed.silent(mail) { $0.forceRefresh = true }
        if isMarked {
            bed.provider.whenRedeeming { _ throws(ProviderError) in throw .outcomeUnknown("lost") }
            await #expect(throws: BrokerError.self) { try await bed.engine.acquireSilent(request) }
            bed.clock.advance(bySeconds: 600)
        }
        let (sent, gate) = (bed.provider.refreshes, Gate())
        bed.provider.holdMetadata(at: gate)
        let refresh = Task { [engine = bed.engine] in try await engine.acquireSilent(request) }
        try await gate.waitForCallers()
        try await way(mail, on: bed)
        gate.open()
        let error = await #expect(throws: BrokerError.self) { try await refresh.value }
        #expect(error?.kind == .interactionRequired)
        #expect(error?.reason == (way == .signOut ? .signedOut : .noTokens))
        #expect(bed.provider.refreshes == sent)
    }

    @Test(
        "a refresh token of the old grant does not replace a new sign-in's", arguments: ["forged", "alice"])
    func signedInAgain(idToken: String) async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail])
        try await bed.signIn("alice", mail)
        let (gate, refresh) = try await refreshing(bed, idToken: idToken)
        try await Way.signOut(mail, on: bed)
        try await bed.signIn("alice", mail)
        gate.open()
        if idToken == "forged" {
            await #expect(throws: BrokerError.self) { try await refresh.value }
            #expect(try refreshTokens(bed) == ["rt-2"])
        } else {
            // A caller that wanted a new token gets one of the new grant.
            #expect(try await bed.text(refresh.value) == "at-4")
            #expect(bed.provider.refreshes == ["rt-1", "rt-2"])
            #expect(try refreshTokens(bed) == ["rt-4"])
        }
    }

    @Test(
        "a cached token is no answer after a sign-out, although the provider cannot be asked", arguments: Way.allCases)
    func cachedToken(_ way: Way) async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail])
        try await bed.signIn("alice", mail)
        // It ends soon, and would do while the provider does not answer.
        bed.clock.advance(bySeconds: 3500)
        let (gate, refresh) = try await unanswered(bed)
        try await way(mail, on: bed)
        gate.open()
        let error = await #expect(throws: BrokerError.self) { try await refresh.value }
        #expect(error?.reason == (way == .signOut ? .signedOut : .noTokens), "\(String(describing: error))")
    }

    @Test("a token that ended while the provider did not answer is no answer")
    func endedMeanwhile() async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail])
        try await bed.signIn("alice", mail)
        bed.clock.advance(bySeconds: 3595)
        let (gate, refresh) = try await unanswered(bed)
        bed.clock.advance(bySeconds: 10)
        gate.open()
        let error = await #expect(throws: BrokerError.self) { try await refresh.value }
        #expect(error?.kind == .offline)
    }

    @Test("a request that names an account does not get the token of another person who signed in meanwhile")
    func anotherPerson() async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail])
        try await bed.signIn("alice", mail)
        let gate = Gate()
        bed.provider.holdMetadata(at: gate)
        let (any, alice) = (
            bed.silent(mail) { $0.forceRefresh = true },
            bed.silent(mail) {
                $0.forceRefresh = true
                $0.account = .username("alice")
            }
        )
        let unnamed = Task { [engine = bed.engine] in try await engine.acquireSilent(any) }
        try await gate.waitForCallers()
        // It runs until it waits for the same refresh.
        let named = Task.immediate { [engine = bed.engine] in try await engine.acquireSilent(alice) }
        bed.provider.holdMetadata(at: Gate(open: true))
        try await Way.remove(mail, on: bed)
        try await bed.signIn("bob", mail)
        gate.open()
        #expect(try await unnamed.value.account.username == "bob")
        await #expect(throws: BrokerError.self) { try await named.value }
    }

    @Test("tokens that arrive after a sign-out with revocation are revoked too", arguments: ["forged", "alice"])
    func revokedAfterwards(idToken: String) async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail])
        try await bed.signIn("alice", mail)
        let (gate, refresh) = try await refreshing(bed, idToken: idToken)
        var request = SignOutRequest(
            partition: Sample.partition, account: .username("alice"), correlationID: "correlation-1")
        request.app = mail
        request.revoke = true
        #expect(try await bed.engine.signOut(request) { _ in }.revocation == .done)
        #expect(bed.provider.revoked == ["rt-1"])
        gate.open()
        await #expect(throws: BrokerError.self) { try await refresh.value }
        await bed.engine.drain()
        #expect(bed.provider.revoked.contains("rt-2"))
    }

    @Test("tokens that arrive after any other sign-out are dropped", arguments: Way.allCases)
    func letGoAfterwards(_ way: Way) async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail])
        try await bed.signIn("alice", mail)
        let (gate, refresh) = try await refreshing(bed, idToken: "alice")
        try await way(mail, on: bed)
        gate.open()
        await #expect(throws: BrokerError.self) { try await refresh.value }
        await bed.engine.drain()
        #expect(bed.provider.revoked.isEmpty)
    }

    @Test("an app that signed out gets no tokens back while another client keeps the account", arguments: Way.allCases)
    func otherClientStays(_ way: Way) async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail, notes])
        try await bed.signIn("alice", mail)
        try await bed.signIn("alice", notes)
        let (gate, refresh) = try await refreshing(bed, idToken: "alice")
        try await way(mail, on: bed)
        gate.open()
        let error = await #expect(throws: BrokerError.self) { try await refresh.value }
        #expect(error?.reason == .signedOut)
        #expect(try refreshTokens(bed).isEmpty)
        #expect(try refreshTokens(bed, of: "client-2") == ["rt-2"])
        let clients = try bed.vault.loadAll(AccessTokenRecord.self, in: Sample.partition).map(\.record.owner.clientID)
        #expect(clients == ["client-2"])
        #expect(bed.engine.cached(bed.silent(notes)) != nil)
    }

    @Test(
        "shared tokens are kept for the remaining app, and the one that signed out gets an error",
        arguments: Way.allCases
    )
    func sharedTokens(_ way: Way) async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail, calendar])
        try await bed.signIn("alice", mail)
        let (gate, refresh) = try await refreshing(bed, idToken: "alice")
        try await way(mail, on: bed)
        gate.open()
        let error = await #expect(throws: BrokerError.self) { try await refresh.value }
        #expect(error?.reason == .signedOut)
        #expect(try refreshTokens(bed) == ["rt-2"])
        let token = try #require(bed.engine.cached(bed.silent(calendar)))
        #expect(try bed.text(token) == "at-2")
        #expect(try bed.engine.accounts(of: mail, includeSignedOut: false, in: Sample.partition).isEmpty)
    }

    @Test("tokens that a refresh files while a sign-out waits for its turn are removed too", arguments: Way.allCases)
    func filedJustBefore(_ way: Way) async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail])
        try await bed.signIn("alice", mail)
        let gate = Gate()
        bed.vault.hold(until: gate)
        // A token separate from the sign-in's.
        let silent = bed.silent(mail) { $0.resources = ["https://api.example"] }
        let refresh = Task { [engine = bed.engine] in try await engine.acquireSilent(silent) }
        try await bed.vault.waitForHeld()
        // It runs as far as it can while the refresh is being written. Even if it does not: nothing stays in either order.
        let signOut = Task.immediate { try await way(mail, on: bed) }
        gate.open()
        try await signOut.value
        _ = await refresh.result
        #expect(try refreshTokens(bed).isEmpty)
        #expect(try bed.vault.loadAll(AccessTokenRecord.self, in: Sample.partition).isEmpty)
        #expect(try bed.vault.loadAll(IDTokenRecord.self, in: Sample.partition).isEmpty)
    }

    @Test("a sign-out that cannot determine the sharing apps deletes nothing", arguments: Way.allCases)
    func unknownMembers(_ way: Way) async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail, calendar])
        try await bed.signIn("alice", mail)
        bed.roster.fail(BrokerError(.internal, "The registered apps could not be read.", reason: .vaultDamaged))
        let error = await #expect(throws: BrokerError.self) { try await way(mail, on: bed) }
        #expect(error?.reason == .vaultDamaged)
        #expect(try refreshTokens(bed) == ["rt-1"])
        #expect(bed.engine.cached(bed.silent(calendar)) != nil)
    }
}

import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Forgetting accounts, clearing the cache")
struct ErasureFlowTests {
    private let mail = Sample.app("mail", client: "client-1", group: "office")
    private let calendar = Sample.app("calendar", client: "client-1", group: "office")
    private let notes = Sample.app("notes", client: "client-2")

    @discardableResult
    private func forget(_ user: String = "alice", revoke: Bool = false, on bed: EngineBed) async throws -> ErasureReport
    {
        try await bed.engine.erasure.run(
            .username(user), revoke: revoke, correlationID: "correlation-1", in: Sample.partition)
    }

    private func clear(revoke: Bool = false, on bed: EngineBed) async throws -> ErasureReport {
        try await bed.engine.erasure.run(nil, revoke: revoke, correlationID: "correlation-1", in: Sample.partition)
    }

    /// The number of records on disk, of one person or of all.
    private func records(of user: String? = nil, _ bed: EngineBed) throws -> Int {
        func count<Record: VaultRecord>(_ type: Record.Type, _ home: (Record) -> HomeAccountID) throws -> Int {
            try bed.vault.loadAll(type, in: Sample.partition).count { stored in
                user.map { home(stored.record).rawValue.hasPrefix($0) } ?? true
            }
        }
        return try count(AccountRecord.self, \.homeAccountID) + count(SignOutRecord.self, \.homeAccountID)
            + count(RefreshTokenRecord.self, \.owner.homeAccountID)
            + count(AccessTokenRecord.self, \.owner.homeAccountID)
            + count(IDTokenRecord.self, \.owner.homeAccountID) + count(ProofKeyRecord.self, \.owner.homeAccountID)
    }

    @Test("a lock does not wait for the revocation of each token")
    func lockedMeanwhile() async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail, notes])
        for app in [mail, notes] { try await bed.signIn("alice", app) }
        let gate = Gate()
        bed.provider.holdMetadata(at: gate)
        let clearing = Task { try await clear(revoke: true, on: bed) }
        try await gate.waitForCallers()
        let shutting = Task { await bed.engine.gate.shut() }
        try await eventually("the gate is shut") { !bed.engine.gate.isOpen }
        gate.open()
        let report = try await clearing.value
        #expect(report.revocation.failure?.contains("locking") == true && bed.provider.revoked.count == 1)
        await shutting.value
    }

    @Test("a forgotten account is in no group and no app, even if signed out or of an unregistered app")
    func everywhere() async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail, calendar])
        for app in [mail, notes] { try await bed.signIn("alice", app) }
        try await bed.signIn("bob", mail)
        _ = try await bed.engine.remove(.username("alice"), from: calendar, in: Sample.partition)
        #expect(try bed.vault.loadAll(SignOutRecord.self, in: Sample.partition).count == 1)
        let bobs = try records(of: "bob", bed)
        let report = try await forget(on: bed)
        #expect(report.accounts == 1 && report.tokens == 6 && report.revocation == .skipped)
        #expect(try records(of: "alice", bed) == 0)
        #expect(try records(of: "bob", bed) == bobs)
        #expect(bed.provider.revoked.isEmpty)
        let left = try bed.engine.accounts(of: nil, includeSignedOut: true, in: Sample.partition)
        #expect(left.map(\.username) == ["bob"])
        // Nothing is remembered: the next sign-in does not ask for the password, as it does after a sign-out.
        try await bed.signIn("alice", mail)
        #expect(bed.provider.authorizations.last?.prompt == nil)
    }

    @Test("two people whose names differ only in their bytes are both erased")
    func exactNames() async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail])
        for name in ["\u{e9}lise", "e\u{301}lise"] { try await bed.signIn(name, mail) }
        #expect(try await clear(on: bed).accounts == 2)
        #expect(try records(bed) == 0)
    }

    @Test("a sign-out mark is erased even if the group no longer knows the account")
    func loneMark() async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail, notes])
        let alice = try await bed.signIn("alice", notes).account
        let mark = SignOutRecord(
            group: mail.effectiveGroup, app: mail.identity, homeAccountID: HomeAccountID(rawValue: alice.homeAccountId),
            environment: alice.environment, since: 1)
        try await bed.vault.commit(
            VaultChange(
                in: Sample.partition, puts: [try bed.vault.seal(mark, secret: nil, in: Sample.partition).sealed]))
        try await forget(on: bed)
        #expect(try records(bed) == 0)
    }

    @Test("forgetting an unknown account is an error")
    func nobody() async throws {
        let bed = try await EngineBed()
        let error = await #expect(throws: BrokerError.self) { try await forget("eve", on: bed) }
        #expect(error?.kind == .accountNotFound)
    }

    @Test("the key of DPoP tokens is erased with them")
    func proofKey() async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail])
        bed.provider.offer { $0.dpopAlgorithms = ["ES256"] }
        bed.provider.bindTokens()
        try await bed.signIn("alice", bed.interactive(mail) { $0.tokenType = .dpop })
        #expect(try bed.vault.loadAll(ProofKeyRecord.self, in: Sample.partition).count == 1)
        try await forget(on: bed)
        #expect(try records(bed) == 0)
    }

    @Test(
        "all refresh tokens are revoked on request, and tokens that arrive too late always",
        arguments: [true, false])
    func late(revoke: Bool) async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail, notes])
        try await bed.signIn("alice", mail)
        try await bed.signIn("alice", notes)
        let gate = bed.holdTokens()
        let silent = bed.silent(mail) { $0.forceRefresh = true }
        let refresh = Task { [engine = bed.engine] in try await engine.acquireSilent(silent) }
        try await bed.provider.waitForRefreshes()
        let report = try await forget(revoke: revoke, on: bed)
        #expect(report.revocation == (revoke ? .done : .skipped))
        #expect(Set(bed.provider.revoked) == (revoke ? ["rt-1", "rt-2"] : []))
        gate.open()
        let error = await #expect(throws: BrokerError.self) { try await refresh.value }
        #expect(error?.kind == .interactionRequired)
        await bed.engine.drain()
        #expect(bed.provider.revoked.contains("rt-3"))
        #expect(try records(bed) == 0)
    }

    @Test("a sign-in that waits for the account ends, but one for any account goes on")
    func waiting() async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail, notes])
        try await bed.signIn("alice", mail)
        let (first, forAlice) = bed.begin(bed.interactive(mail) { $0.account = .username("alice") })
        _ = try await first.opening()
        let (second, forAnybody) = bed.begin(bed.interactive(notes))
        let opening = try await second.opening()
        try await forget(on: bed)
        let error = await #expect(throws: BrokerError.self) { try await forAlice.value }
        #expect(error?.kind == .userCanceled)
        _ = await bed.redirects.visit(opening, code: "bob")
        #expect(try await forAnybody.value.account.username == "bob")
    }

    /// Ways to erase an account.
    enum Way: CaseIterable {
        case forget, clear, partition
    }

    private func erase(_ way: Way, on bed: EngineBed) async throws {
        switch way {
        case .forget: try await forget(on: bed)
        case .clear: _ = try await clear(on: bed)
        case .partition:
            try await bed.engine.partitions.erase(Sample.partition, from: bed.vault)
            // As before the next request of the user that stores something.
            let owner = try bed.vault.seal(PartitionOwnerRecord(account: "me"), secret: nil, in: Sample.partition)
            try await bed.vault.commit(VaultChange(in: Sample.partition, puts: [owner.sealed]))
        }
    }

    @Test(
        "a sign-in whose code is being redeemed does not bring an erased account back, and its tokens are revoked",
        arguments: Way.allCases, [false, true])
    func redeemedMeanwhile(_ way: Way, byDevice: Bool) async throws {
        let bed = try await EngineBed()
        let (gate, signIn) = try await bed.redeeming(for: mail, besides: notes, byDevice: byDevice)
        try await erase(way, on: bed)
        gate.open()
        let error = await #expect(throws: BrokerError.self) { try await signIn.value }
        #expect(error?.kind == .userCanceled)
        try await bed.provider.waitForRevocations(2)
        #expect(bed.provider.revoked == ["rt-2", "at-2"])
        #expect(try records(bed) == 0)
        #expect(try bed.engine.accounts(of: nil, includeSignedOut: true, in: Sample.partition).isEmpty)
        // A new sign-in is kept.
        try await bed.signIn("alice", mail)
        #expect(try records(bed) > 0)
    }

    @Test("nothing is noted of the client of such a sign-in either", arguments: [Way.clear, .partition])
    func clientMeanwhile(_ way: Way) async throws {
        let bed = try await EngineBed()
        bed.provider.offer { $0.scopesSupported = ["openid", "offline_access"] }
        let (gate, signIn) = try await bed.redeeming(for: mail, besides: notes) { $0.refreshToken = nil }
        try await erase(way, on: bed)
        gate.open()
        await #expect(throws: BrokerError.self) { try await signIn.value }
        #expect(try bed.vault.loadAll(AppMetadataRecord.self, in: Sample.partition).isEmpty)
    }

    @Test("a sign-in that begins after an erasure gets a window of its own and is kept, unlike one that waits for long")
    func begunAfterwards() async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail, notes])
        try await bed.signIn("alice", notes)
        let (first, old) = bed.begin(bed.interactive(mail))
        let oldOpening = try await first.opening()
        try await forget(on: bed)
        let kept = try await bed.signIn("alice", mail)
        _ = await bed.redirects.visit(oldOpening, code: "alice")
        let error = await #expect(throws: BrokerError.self) { try await old.value }
        #expect(error?.kind == .userCanceled && error?.message.contains("sign in again") == true)
        #expect(try bed.text(try #require(bed.engine.cached(bed.silent(mail)))) == bed.text(kept))
    }

    @Test("an erasure that the disk refuses is reported, and retried")
    func fullDisk() async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail])
        try await bed.signIn("alice", mail)
        bed.vault.failWriting(.full("The disk is full."))
        let error = await #expect(throws: BrokerError.self) { try await forget(revoke: true, on: bed) }
        #expect(error?.reason == .vaultNotWritable)
        // The token could not be found again to revoke it later.
        #expect(bed.provider.revoked == ["rt-1"])
        #expect(try bed.engine.accounts(of: nil, includeSignedOut: true, in: Sample.partition).isEmpty)
        bed.vault.failWriting(nil)
        await bed.engine.drain()
        #expect(try records(bed) == 0)
    }

    @Test("clearing removes all accounts, and revokes their tokens on request", arguments: [true, false])
    func everybody(revoke: Bool) async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail, notes])
        try await bed.signIn("alice", mail)
        try await bed.signIn("bob", notes)
        let (browser, waiting) = bed.begin(bed.interactive(mail))
        _ = try await browser.opening()
        let report = try await clear(revoke: revoke, on: bed)
        #expect(report.accounts == 2 && report.tokens == 6)
        #expect(Set(bed.provider.revoked) == (revoke ? ["rt-1", "rt-2"] : []))
        #expect(try records(bed) == 0)
        #expect(try bed.vault.loadAll(AppMetadataRecord.self, in: Sample.partition).isEmpty)
        await #expect(throws: BrokerError.self) { try await waiting.value }
        #expect(try await clear(on: bed).accounts == 0)
    }

    @Test("a failed revocation is reported, and the token is removed here all the same")
    func unrevocable() async throws {
        let bed = try await EngineBed()
        try await bed.signIn("alice", mail)
        bed.roster.set([])
        bed.vault.damage([.refreshToken])
        #expect(try await clear(revoke: true, on: bed).revocation.failure != nil)
        #expect(try records(bed) == 0)
    }

    @Test("statistics count people once, and records by kind")
    func statistics() async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail, notes])
        try await bed.signIn("alice", mail)
        try await bed.signIn("alice", notes)
        try await bed.signIn("bob", mail)
        _ = try await bed.engine.signOut(
            SignOutRequest(partition: Sample.partition, account: .username("bob"), correlationID: "c")
        ) { _ in }
        let counts = try bed.engine.cacheStatistics(of: Sample.partition)
        #expect(counts.accounts == 2 && counts.signedIn == 1 && counts.apps == 2 && counts.groups == 2)
        #expect(counts.records.accounts == 3 && counts.records.refreshTokens == 2)
        #expect(counts.records.accessTokens == 2 && counts.records.idTokens == 2)
        #expect(counts.recordBytes > 0 && counts.fileBytes > 0 && counts.cacheBytes > 0)
        let others = try bed.engine.cacheStatistics(of: Partition(uid: 4242))
        #expect(others.records == .init() && others.recordBytes == 0 && others.accounts == 0)
    }
}

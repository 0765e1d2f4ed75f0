import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerTokenCache
import BrokerValues
import Testing

@Suite("Backups")
struct BackupFlowTests {
    let mail = Sample.app("mail", client: "client-1", group: "office")
    private let calendar = Sample.app("calendar", client: "client-1", group: "office")
    private let notes = Sample.app("notes", client: "client-2")
    static let passphrase = Secret("correct horse")

    func export(_ bed: EngineBed) async throws -> [UInt8] {
        let transfer = try await bed.engine.backups.beginExport(with: Self.passphrase, of: Sample.partition)
        var bytes: [UInt8] = []
        while true {
            let part = try bed.engine.backups.exportPart(of: transfer, in: Sample.partition)
            bytes += part.bytes
            if part.isLast { return bytes }
        }
    }

    private func upload(_ bytes: [UInt8], to engine: TokenBroker) throws -> String {
        let half = bytes.count / 2
        let transfer = try engine.backups.addImportPart(Array(bytes[..<half]), to: nil, in: Sample.partition)
        return try engine.backups.addImportPart(Array(bytes[half...]), to: transfer, in: Sample.partition)
    }

    @discardableResult
    func restore(_ bytes: [UInt8], to bed: EngineBed) async throws -> CacheRestoreReport {
        try await bed.engine.backups.importBackup(
            try upload(bytes, to: bed.engine), with: Self.passphrase, replacingApps: false, in: Sample.partition)
    }

    func refreshTokens(_ bed: EngineBed) throws -> Set<String> {
        Set(
            try bed.vault.loadAll(RefreshTokenRecord.self, in: Sample.partition)
                .map { try bed.vault.secret(of: $0.sealed).revealed() })
    }

    func bed(_ apps: AppRegistration...) async throws -> EngineBed {
        let bed = try await EngineBed()
        bed.roster.set(apps)
        return bed
    }

    @Test("a restore elsewhere signs the same people in with the same refresh tokens and renews access tokens")
    func elsewhere() async throws {
        let (here, there) = (try await bed(mail, notes), try await bed(mail, notes))
        try await here.signIn("alice", mail)
        try await here.signIn("bob", mail)
        try await here.signIn("alice", notes)
        let report = try await restore(try await export(here), to: there)
        #expect(report.accounts.added == 3 && report.refreshTokens.added == 3 && report.idTokens.added == 3)
        #expect(report.createdOn == Sample.now && report.problems.isEmpty)
        #expect(try refreshTokens(there) == ["rt-1", "rt-2", "rt-3"])
        #expect(try there.vault.loadAll(AccessTokenRecord.self, in: Sample.partition).isEmpty)
        _ = try await there.engine.acquireSilent(there.silent(mail) { $0.account = .username("bob") })
        #expect(there.provider.refreshes == ["rt-2"])
        let (mine, theirs) = (
            try here.engine.accounts(of: nil, includeSignedOut: false, in: Sample.partition),
            try there.engine.accounts(of: nil, includeSignedOut: false, in: Sample.partition)
        )
        #expect(theirs.map(\.homeAccountId) == mine.map(\.homeAccountId))
        // Each vault has its own ids (decision 16).
        #expect(Set(theirs.map(\.id)).isDisjoint(with: mine.map(\.id)))
    }

    @Test("importing the same backup twice changes nothing the second time")
    func twice() async throws {
        let (here, there) = (try await bed(mail), try await bed(mail))
        try await here.signIn("alice", mail)
        let backup = try await export(here)
        try await restore(backup, to: there)
        let again = try await restore(backup, to: there)
        #expect(again.isIdle && again.refreshTokens.kept == 1 && again.accounts.kept == 1)
    }

    @Test("an import changes nothing of an account that is signed in, and names it")
    func signedIn() async throws {
        let here = try await bed(mail)
        try await here.signIn("alice", mail)
        let old = try await export(here)
        here.clock.advance(bySeconds: 100)
        _ = try await here.engine.acquireSilent(here.silent(mail) { $0.forceRefresh = true })
        let kept = try await restore(old, to: here)
        #expect(kept.refreshTokens.kept == 1 && kept.isIdle)
        #expect(kept.problems == ["alice is signed in here already, and is left so."])
        #expect(try refreshTokens(here) == ["rt-2"])
        let there = try await bed(mail)
        there.clock.advance(bySeconds: 100)
        try await restore(old, to: there)
        #expect(try await restore(try await export(here), to: there).isIdle)
        #expect(try refreshTokens(there) == ["rt-1"])
    }

    @Test("an account whose tokens have died gets those of the backup")
    func dead() async throws {
        let (here, there) = (try await bed(mail), try await bed(mail))
        for bed in [here, there] { try await bed.signIn("alice", mail) }
        _ = try await there.engine.acquireSilent(there.silent(mail) { $0.forceRefresh = true })
        here.clock.advance(bySeconds: 100_000)
        let refusal = OAuthRefusal(error: "invalid_grant", status: 400)
        here.provider.whenRedeeming { _ throws(ProviderError) in throw .refused(refusal) }
        _ = await #expect(throws: BrokerError.self) { try await here.engine.acquireSilent(here.silent(mail)) }
        #expect(try refreshTokens(here).isEmpty)
        let report = try await restore(try await export(there), to: here)
        #expect(report.refreshTokens.added == 1 && report.problems.isEmpty)
        #expect(try refreshTokens(here) == ["rt-2"])
    }

    @Test("a sign-out stays in force, whether it came after the backup or before it", arguments: [true, false])
    func signedOut(since: Bool) async throws {
        let (here, there) = (try await bed(mail), try await bed(mail))
        there.clock.advance(bySeconds: since ? 0 : 200)
        for bed in [here, there] { try await bed.signIn("alice", mail) }
        here.clock.advance(bySeconds: 100)
        let signOut = SignOutRequest(partition: Sample.partition, account: .username("alice"), correlationID: "c")
        _ = try await here.engine.signOut(signOut) { _ in }
        here.clock.advance(bySeconds: 300)
        let report = try await restore(try await export(there), to: here)
        #expect(report.isIdle && report.problems == ["alice has signed out here, and is left so."])
        let signedIn = try here.engine.accounts(of: mail, includeSignedOut: false, in: Sample.partition)
        #expect(try signedIn.isEmpty && refreshTokens(here).isEmpty)
    }

    @Test("a backup made with a fast clock replaces no newer token, and undoes neither a sign-out nor a sign-in")
    func fastClock() async throws {
        let (here, fast) = (try await bed(mail, calendar), try await bed(mail, calendar))
        fast.clock.advance(bySeconds: 1_000_000)
        try await fast.signIn("alice", mail)
        _ = try await fast.engine.acquireSilent(fast.silent(mail) { $0.forceRefresh = true })
        _ = try await fast.engine.remove(.username("alice"), from: calendar, in: Sample.partition)
        try await here.signIn("alice", mail)
        let report = try await restore(export(fast), to: here)
        #expect(try report.isIdle && report.refreshTokens.kept == 1 && refreshTokens(here) == ["rt-1"])
        #expect(try here.engine.accounts(of: calendar, includeSignedOut: false, in: Sample.partition).count == 1)
        let signOut = SignOutRequest(partition: Sample.partition, account: .username("alice"), correlationID: "c")
        _ = try await here.engine.signOut(signOut) { _ in }
        try await restore(export(fast), to: here)
        #expect(try here.engine.accounts(of: mail, includeSignedOut: false, in: Sample.partition).isEmpty)
    }

    @Test("an app's sign-out mark is imported, unless its client is signed in")
    func marks() async throws {
        let here = try await bed(mail, calendar)
        try await here.signIn("alice", mail)
        _ = try await here.engine.remove(.username("alice"), from: calendar, in: Sample.partition)
        let backup = try await export(here)
        let there = try await bed(mail, calendar)
        try await restore(backup, to: there)
        #expect(try there.engine.accounts(of: calendar, includeSignedOut: false, in: Sample.partition).isEmpty)
        #expect(try there.engine.accounts(of: mail, includeSignedOut: false, in: Sample.partition).count == 1)
        let later = try await bed(mail, calendar)
        later.clock.advance(bySeconds: 100)
        try await later.signIn("alice", mail)
        try await restore(backup, to: later)
        #expect(try later.engine.accounts(of: calendar, includeSignedOut: false, in: Sample.partition).count == 1)
    }

    @Test("a bound token is imported with its key, and the pair takes the place of no other")
    func boundTokens() async throws {
        func bound() async throws -> EngineBed {
            let bed = try await bed(mail)
            bed.provider.offer { $0.dpopAlgorithms = ["ES256"] }
            bed.provider.bindTokens()
            try await bed.signIn("alice", bed.interactive(mail) { $0.tokenType = .dpop })
            return bed
        }
        func thumbprints(_ bed: EngineBed) throws -> [String] {
            try bed.vault.loadAll(ProofKeyRecord.self, in: Sample.partition).map(\.record.thumbprint)
                + bed.vault.loadAll(RefreshTokenRecord.self, in: Sample.partition).compactMap(\.record.keyThumbprint)
        }
        let (here, other, there) = (try await bound(), try await bound(), try await bed(mail))
        let (mine, others) = (try thumbprints(here), try thumbprints(other))
        #expect(mine.count == 2 && Set(mine).count == 1 && Set(mine + others).count == 2)
        let backup = try await export(here)
        let kept = try await restore(backup, to: other)
        #expect(kept.isIdle && kept.proofKeys.kept == 1)
        #expect(try thumbprints(other) == others)
        there.provider.offer { $0.dpopAlgorithms = ["ES256"] }
        there.provider.bindTokens()
        let report = try await restore(backup, to: there)
        #expect(report.proofKeys.added == 1 && report.refreshTokens.added == 1)
        #expect(try thumbprints(there) == mine)
        _ = try await there.engine.acquireSilent(there.silent(mail) { $0.tokenType = .dpop })
        #expect(there.provider.extras.last?.proofKey?.thumbprint == mine[0])
    }

    @Test("a bound refresh token of an app with bearer tokens is imported with its key, used by the next refresh")
    func boundRefreshToken() async throws {
        var app = mail
        app.description.bindRefreshToken = true
        let (here, there) = (try await bed(app), try await bed(app))
        for bed in [here, there] { bed.provider.offer { $0.dpopAlgorithms = ["ES256"] } }
        try await here.signIn("alice", app)
        let report = try await restore(try await export(here), to: there)
        #expect(report.proofKeys.added == 1 && report.refreshTokens.added == 1)
        let token = try await there.engine.acquireSilent(there.silent(app))
        #expect(token.token.record.tokenType == .bearer)
        #expect(there.provider.refreshes == ["rt-1"])
        let (signedIn, proven) = (here.provider.extras.first?.proofKey, there.provider.extras.first?.proofKey)
        #expect(proven != nil && proven?.thumbprint == signedIn?.thumbprint)
    }

    @Test("a damaged backup changes nothing, and the error says what to do")
    func refused() async throws {
        let (here, there) = (try await bed(mail), try await bed(mail))
        for user in ["alice", "bob"] { try await here.signIn(user, mail) }
        let backup = try await export(here)
        var changed = backup
        changed[backup.count - 1] ^= 1
        let cases: [([UInt8], String, ErrorKind, String)] = [
            (backup, "wrong horse", .accessDenied, "try again"),
            (changed, "correct horse", .invalidParameter, "another copy"),
            (Array(backup.dropLast(20)), "correct horse", .invalidParameter, "whole copy"),
            ([], "correct horse", .invalidParameter, "brokerctl cache export"),
        ]
        for (bytes, passphrase, kind, advice) in cases {
            let transfer = try upload(bytes, to: there.engine)
            let error = await #expect(throws: BrokerError.self) {
                try await there.engine.backups.importBackup(
                    transfer, with: Secret(passphrase), replacingApps: false, in: Sample.partition)
            }
            #expect(error?.kind == kind && error?.message.contains(advice) == true, "\(String(describing: error))")
        }
        #expect(try there.vault.statistics(of: Sample.partition).records.isEmpty)
        #expect(there.roster.restoredApps.isEmpty)
    }

    @Test("a transfer belongs to one person, and ends a minute after its last part or with a lock")
    func transfers() async throws {
        let bed = try await bed(mail)
        let transfer = try await bed.engine.backups.beginExport(with: Self.passphrase, of: Sample.partition)
        func isThere() -> Bool { (try? bed.engine.backups.addImportPart([], to: upload, in: Sample.partition)) != nil }
        let upload = try bed.engine.backups.addImportPart([1], to: nil, in: Sample.partition)
        #expect(throws: BrokerError.self) { try bed.engine.backups.exportPart(of: transfer, in: Partition(uid: 4242)) }
        #expect(throws: BrokerError.self) { try bed.engine.backups.exportPart(of: upload, in: Sample.partition) }
        for _ in 0..<2 { _ = try bed.engine.backups.addImportPart([1], to: nil, in: Sample.partition) }
        let error = #expect(throws: BrokerError.self) {
            try bed.engine.backups.addImportPart([1], to: nil, in: Sample.partition)
        }
        #expect(error?.kind == .throttled)
        try await bed.clock.waitForSleepers(4)
        bed.clock.advance(bySeconds: 50)
        #expect(isThere())
        bed.clock.advance(bySeconds: 50)
        try await eventually("a place is free again") {
            (try? bed.engine.backups.addImportPart([1], to: nil, in: Sample.partition)) != nil
        }
        #expect(isThere())
        await bed.engine.lock.lock(because: "test")
        try await bed.engine.lock.unlock(passphrase: nil, caller: "test")
        #expect(!isThere())
    }

    @Test("changes during an export leave it consistent")
    func meanwhile() async throws {
        let (here, there) = (try await bed(mail), try await bed(mail))
        for number in 0..<300 { try await here.signIn("user-\(number)", mail) }
        let transfer = try await here.engine.backups.beginExport(with: Self.passphrase, of: Sample.partition)
        try await here.signIn("late", mail)
        _ = try await here.engine.erasure.run(
            .username("user-7"), revoke: false, correlationID: "c", in: Sample.partition)
        var bytes: [UInt8] = []
        var isLast = false
        while !isLast {
            let part = try here.engine.backups.exportPart(of: transfer, in: Sample.partition)
            bytes += part.bytes
            isLast = part.isLast
        }
        let report = try await restore(bytes, to: there)
        #expect(report.accounts.added == 300 && report.refreshTokens.added == 300)
    }

    @Test("an export is refused while the disk lacks changes, and an import refused by the disk reports that")
    func fullDisk() async throws {
        let (here, there) = (try await bed(mail), try await bed(mail))
        try await here.signIn("alice", mail)
        let backup = try await export(here)
        there.vault.failWriting(.full("The disk is full."))
        let error = await #expect(throws: BrokerError.self) { try await restore(backup, to: there) }
        #expect(error?.reason == .vaultNotWritable)
        let refused = await #expect(throws: BrokerError.self) { try await export(there) }
        #expect(refused?.reason == .vaultNotWritable)
        there.vault.failWriting(nil)
        await there.engine.drain()
        #expect(try refreshTokens(there) == ["rt-1"])
    }

    /// A backup that no broker made from its vault: for the given number of people, with tokens each; their accounts may be
    /// missing.
    private func madeUp(
        _ people: Int, tokensEach: Int = 1, hasAccounts: Bool = true, on bed: EngineBed
    ) async throws -> [UInt8] {
        let backup = try await bed.vault.beginBackup(with: Self.passphrase, at: Sample.now)
        let owners = (0..<people).map {
            TokenOwner(
                group: mail.effectiveGroup, clientID: mail.clientID,
                homeAccountID: HomeAccountID(subject: "user-\($0)", issuer: mail.authority.url),
                environment: mail.authority.environment)
        }
        for owner in owners where hasAccounts {
            let account = AccountRecord(
                group: owner.group, homeAccountID: owner.homeAccountID, environment: owner.environment,
                realm: mail.authority.path, authority: mail.authority.url, username: owner.homeAccountID.rawValue,
                createdAt: 1)
            try backup.append(account, secret: nil)
        }
        for owner in owners {
            for number in 0..<tokensEach {
                var token = RefreshTokenRecord(
                    owner: owner, authority: mail.authority.url, scopes: ["mail.read"],
                    cachedAt: Sample.now + 1_000_000)
                if number > 0 { token.familyID = "family-\(number)" }
                try backup.append(token, secret: Secret("rt of \(owner.homeAccountID.rawValue)"))
            }
        }
        try backup.finish()
        return backup.take(atMost: .max)
    }

    @Test("a very large backup is merged completely in several transactions")
    func large() async throws {
        let bed = try await bed(mail)
        let report = try await restore(try await madeUp(4_000, on: bed), to: bed)
        #expect(report.accounts.added == 4_000 && report.refreshTokens.added == 4_000)
        #expect(try bed.vault.statistics(of: Sample.partition).records == [.account: 4_000, .refreshToken: 4_000])
        #expect(bed.vault.rowsOfLastCommit < 8_000)
    }

    @Test("a forged backup brings no more tokens of one account than are kept")
    func beyond() async throws {
        let bed = try await bed(mail)
        let report = try await restore(try await madeUp(1, tokensEach: 500, on: bed), to: bed)
        #expect(report.refreshTokens.added == CachedTokens.maximumRefreshTokens)
        #expect(report.problems.contains { $0.hasPrefix("484 tokens are left out") }, "\(report.problems)")
        #expect(bed.vault.rowsOfLastCommit < 20)
    }

    @Test("a lock ends an import between two transactions, and repeating it brings the rest")
    func lockedMeanwhile() async throws {
        let bed = try await bed(mail)
        let backup = try await madeUp(4_000, on: bed)
        let gate = Gate()
        bed.vault.hold(until: gate)
        let restoring = Task {
            // Like every request that needs the keys: the lock waits for it.
            try #require(bed.engine.gate.enter())
            defer { bed.engine.gate.leave() }
            return try await restore(backup, to: bed)
        }
        try await bed.vault.waitForHeld()
        let locking = Task { await bed.engine.lock.lock(because: "test") }
        try await eventually("no more is begun") {
            (try? bed.engine.backups.addImportPart([1], to: nil, in: Sample.partition)) == nil
        }
        gate.open()
        let error = await #expect(throws: BrokerError.self) { try await restoring.value }
        #expect(error?.kind == .locked)
        await locking.value
        #expect(bed.vault.held == 1)
        try await bed.engine.lock.unlock(passphrase: nil, caller: "test")
        let rest = try await restore(backup, to: bed)
        #expect(rest.accounts.added + rest.refreshTokens.added > 0 && rest.accounts.kept + rest.refreshTokens.kept > 0)
        #expect(try bed.vault.statistics(of: Sample.partition).records == [.account: 4_000, .refreshToken: 4_000])
    }

    @Test("an import into a restored vault is refused until a person accepts the state")
    func rolledBack() async throws {
        let bed = try await bed(mail)
        let backup = try await madeUp(1, on: bed)
        bed.vault.rollBack()
        for importing in [
            { _ = try await restore(backup, to: bed) },
            { _ = try await bed.engine.importCache([:], for: nil, in: Sample.partition) },
        ] as [() async throws -> Void] {
            let error = await #expect(throws: BrokerError.self) { try await importing() }
            #expect(error?.kind == .accessDenied && error?.reason == .vaultRolledBack)
            #expect(error?.message.contains("brokerctl cache accept-restore") == true)
        }
        try await bed.vault.acceptState(of: Sample.partition)
        #expect(try await restore(backup, to: bed).accounts.added == 1)
    }

    @Test("an imported token is never from the future, and one without an account is left out")
    func madeUpRecords() async throws {
        let bed = try await bed(mail)
        let orphans = try await restore(try await madeUp(2, hasAccounts: false, on: bed), to: bed)
        #expect(orphans.isIdle && orphans.refreshTokens.kept == 2)
        try await restore(try await madeUp(1, on: bed), to: bed)
        let tokens = try bed.vault.loadAll(RefreshTokenRecord.self, in: Sample.partition)
        #expect(tokens.map(\.record.cachedAt) == [0])
    }
}

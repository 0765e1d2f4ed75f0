import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Synchronization
import Testing

@Suite("Importing a cache of MSAL's")
struct ImportFlowTests {
    /// The same file for a provider without tenants, which the test's provider is.
    private func file(secret: String = "imported", time: String = "1799999000", client: String = "client-1")
        -> JSONObject
    {
        func credential(_ more: JSONObject) -> JSONValue {
            let fields: JSONObject = [
                "home_account_id": "alice", "environment": "id.example.org", "client_id": .string(client),
                "secret": .string(secret),
            ]
            return .object(fields.merging(more) { $1 })
        }
        return [
            "Account": [
                "a": [
                    "home_account_id": "alice", "environment": "id.example.org", "realm": "", "username": "alice",
                    "local_account_id": "alice", "account_source": "broker",
                ]
            ],
            "RefreshToken": [
                "r": credential(["target": "mail.read", "last_modification_time": .string(time), "flow": "device"])
            ],
            "AccessToken": [
                "t": credential(["target": "mail.read", "cached_at": .string(time), "expires_on": "1800003000"])
            ],
            "AppMetadata": [
                "m": ["client_id": .string(client), "environment": "id.example.org", "consented_apps": ["x"]]
            ],
        ]
    }

    private func bed(_ apps: [AppRegistration] = [Sample.app()]) async throws -> EngineBed {
        let bed = try await EngineBed()
        bed.roster.set(apps)
        return bed
    }

    private func take(_ bed: EngineBed, _ file: JSONObject, for app: AppRegistration? = nil) async throws
        -> CacheImportReport
    {
        try await bed.engine.importCache(file, for: app, in: Sample.partition)
    }

    @Test("an imported access token is answered and the refresh token works, also after a restart")
    func silentAfterwards() async throws {
        let bed = try await bed()
        let report = try await take(bed, file())
        #expect(report.accounts == 1)
        #expect(report.refreshTokens == 1)
        #expect(report.accessTokens == 1)
        #expect(report.problems.isEmpty && report.unregistered.isEmpty)
        #expect(try bed.text(try await bed.engine.acquireSilent(bed.silent())) == "imported")

        let engine = try await bed.restarted()
        let token = try await engine.acquireSilent(bed.silent { $0.forceRefresh = true })
        #expect(token.account.username == "alice")
        #expect(bed.provider.refreshes == ["imported"])
    }

    @Test("existing tokens that are not older stay, and importing a file twice imports nothing twice")
    func older() async throws {
        let bed = try await bed()
        try await bed.signIn()
        let report = try await take(bed, file())
        #expect(report.refreshTokens == 0 && report.accessTokens == 0 && report.accounts == 0)
        #expect(report.older == 2)
        _ = try await bed.engine.acquireSilent(bed.silent { $0.forceRefresh = true })
        #expect(bed.provider.refreshes == ["rt-1"])

        let fresh = try await self.bed()
        _ = try await take(fresh, file())
        let again = try await take(fresh, file())
        #expect(again.older == 2 && again.refreshTokens == 0)
        let newer = try await take(fresh, file(secret: "newer", time: "1799999500"))
        #expect(newer.refreshTokens == 1 && newer.accessTokens == 1)
        #expect(try fresh.text(try await fresh.engine.acquireSilent(fresh.silent())) == "newer")
    }

    @Test("a failing lookup after the provider's response loses no refresh token")
    func lookUpFails() async throws {
        let bed = try await bed()
        _ = try await take(bed, file())
        bed.provider.whenRedeeming { [unowned bed] _ throws(ProviderError) in
            bed.vault.failReadingAll(.io("It cannot be read."))
            return bed.provider.tokens(for: "alice")
        }
        let forced = bed.silent { $0.forceRefresh = true }
        await #expect(throws: BrokerError.self) { try await bed.engine.acquireSilent(forced) }
        bed.vault.failReadingAll(nil)
        bed.provider.whenRedeeming(nil)
        let engine = try await bed.restarted()
        #expect(try await !engine.acquireSilent(forced).fromCache)
        #expect(bed.provider.refreshes == ["imported", "rt-1"])
    }

    @Test(
        "an app that the person signed out of takes nothing, whether or not another app still uses the account",
        arguments: [false, true])
    func signedOut(ofOne: Bool) async throws {
        let mail = Sample.app("mail", group: "office")
        let notes = Sample.app("notes", client: "client-2", group: "office")
        let bed = try await bed([mail, notes])
        try await bed.signIn("alice", mail)
        if ofOne { try await bed.signIn("alice", notes) }
        var signOut = SignOutRequest(partition: Sample.partition, account: .username("alice"), correlationID: "c")
        signOut.app = mail
        _ = try await bed.engine.signOut(signOut) { _ in }
        let report = try await take(bed, file())
        #expect(report.refreshTokens == 0 && report.accessTokens == 0)
        #expect(report.problems == ["alice has signed out of mail, and is left so."])
        let left = try bed.vault.loadAll(RefreshTokenRecord.self, in: Sample.partition).map(\.record.owner.clientID)
        #expect(left == (ofOne ? ["client-2"] : []))
        try await bed.signIn("alice", notes)
        await #expect(throws: BrokerError.self) { try await bed.engine.acquireSilent(bed.silent(mail)) }
    }

    @Test("each group with the client gets the tokens once, and no other group does")
    func groups() async throws {
        let group = [Sample.app("mail", group: "office"), Sample.app("mail-too", group: "office")]
        let alone = Sample.app("alone")
        let stranger = Sample.app("stranger", client: "client-2", group: "office")
        let bed = try await bed(group + [alone, stranger])
        #expect(try await take(bed, file()).refreshTokens == 2)
        for app in group + [alone] { _ = try await bed.engine.acquireSilent(bed.silent(app)) }
        await #expect(throws: BrokerError.self) { try await bed.engine.acquireSilent(bed.silent(stranger)) }
    }

    @Test("a token that several groups have is redeemed once, and its successor replaces it in all")
    func turns() async throws {
        let apps = (0..<4).map { Sample.app("app-\($0)") }
        let bed = try await bed(apps)
        #expect(try await take(bed, file()).refreshTokens == 4)
        let gate = Gate()
        let underWay = Mutex<(now: Int, most: Int)>((0, 0))
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in
            underWay.withLock { ($0.now, $0.most) = ($0.now + 1, max($0.most, $0.now + 1)) }
            await gate.wait()
            underWay.withLock { $0.now -= 1 }
            return provider.tokens(for: "alice")
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for app in apps {
                // Each runs as far as it can before the next one begins.
                group.addImmediateTask {
                    _ = try await bed.engine.acquireSilent(bed.silent(app) { $0.forceRefresh = true })
                }
            }
            try await gate.waitForCallers()
            gate.open()
            try await group.waitForAll()
        }
        #expect(underWay.withLock { $0.most } == 1)
        #expect(bed.provider.refreshes == ["imported", "rt-1", "rt-2", "rt-3"])
        let engine = try await bed.restarted()
        _ = try await engine.acquireSilent(bed.silent(apps[0]) { $0.forceRefresh = true })
        #expect(bed.provider.refreshes.last == "rt-4")
    }

    @Test("a group that imports the file later gets the token's successor, also after an unusable response")
    func takenLater() async throws {
        let (early, late) = (Sample.app("early"), Sample.app("late"))
        let bed = try await bed([early, late])
        _ = try await take(bed, file(), for: early)
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in provider.tokens(for: "forged") }
        await #expect(throws: BrokerError.self) {
            try await bed.engine.acquireSilent(bed.silent(early) { $0.forceRefresh = true })
        }
        bed.provider.whenRedeeming(nil)
        bed.clock.advance(bySeconds: 120)
        #expect(try await take(bed, file(), for: late).refreshTokens == 1)
        #expect(try await take(bed, file(), for: early).refreshTokens == 0)
        for app in [late, early] { _ = try await bed.engine.acquireSilent(bed.silent(app) { $0.forceRefresh = true }) }
        #expect(bed.provider.refreshes == ["imported", "rt-1", "rt-2"])
        // A sign-in belongs to one group.
        try await bed.signIn("alice", early)
        _ = try await bed.engine.acquireSilent(bed.silent(early) { $0.forceRefresh = true })
        _ = try await bed.engine.acquireSilent(bed.silent(late) { $0.forceRefresh = true })
        #expect(bed.provider.refreshes.suffix(2) == ["rt-4", "rt-3"])
    }

    /// A forced refresh of the imported token that the provider answers when the gate opens, with this ID token.
    private func refreshing(
        _ bed: EngineBed, _ app: AppRegistration, idToken: String = "alice", rotates: Bool = true
    ) async throws -> (gate: Gate, refresh: Task<AcquiredToken, any Error>) {
        let gate = Gate()
        bed.provider.whenRedeeming { [unowned provider = bed.provider] grant in
            guard case .refreshToken(let spent, _) = grant, spent.revealed() == "imported" else {
                return provider.tokens(for: "alice")
            }
            await gate.wait()
            var response = provider.tokens(for: idToken)
            if !rotates { response.refreshToken = nil }
            return response
        }
        let silent = bed.silent(app) { $0.forceRefresh = true }
        let refresh = Task { [engine = bed.engine] in try await engine.acquireSilent(silent) }
        try await bed.provider.waitForRefreshes()
        return (gate, refresh)
    }

    @Test(
        "a token's successor reaches the other groups, even if its app was signed out, or signed in again, meanwhile",
        arguments: [.signOut, .remove, nil] as [SignOutDuringRefreshTests.Way?], ["alice", "forged"])
    func overtaken(by signOut: SignOutDuringRefreshTests.Way?, idToken: String) async throws {
        let (early, late) = (Sample.app("early"), Sample.app("late"))
        let bed = try await bed([early, late])
        _ = try await take(bed, file())
        let (gate, refresh) = try await refreshing(bed, early, idToken: idToken)
        if let signOut { try await signOut(early, on: bed) } else { try await bed.signIn("alice", early) }
        gate.open()
        _ = await refresh.result
        _ = try await bed.engine.acquireSilent(bed.silent(late) { $0.forceRefresh = true })
        // The new sign-in has the first of the provider's tokens.
        #expect(bed.provider.refreshes.last == (signOut == nil ? "rt-2" : "rt-1"))
    }

    @Test(
        "a sign-out does not revoke a token that another group has, or its successor, and says so",
        arguments: [true, false])
    func notRevoked(rotates: Bool) async throws {
        let (early, late) = (Sample.app("early"), Sample.app("late"))
        let bed = try await bed([early, late])
        _ = try await take(bed, file())
        let (gate, refresh) = try await refreshing(bed, early, rotates: rotates)
        var request = SignOutRequest(
            partition: Sample.partition, account: .username("alice"), correlationID: "correlation-1")
        (request.app, request.revoke) = (early, true)
        let revocation = try await bed.engine.signOut(request) { _ in }.revocation
        gate.open()
        _ = await refresh.result
        #expect(revocation.failure != nil, "a token that late needs was revoked")
        _ = try await bed.engine.acquireSilent(bed.silent(late) { $0.forceRefresh = true })
        #expect(bed.provider.refreshes == ["imported", rotates ? "rt-1" : "imported"])
        request.app = nil
        #expect(try await bed.engine.signOut(request) { _ in }.revocation == .done)
        await bed.engine.drain()
        #expect(bed.provider.revoked == [rotates ? "rt-2" : "imported"])
    }

    @Test("a full group takes no new account or token, and keeps the existing ones")
    func full() async throws {
        let bed = try await bed()
        _ = try await take(bed, file())
        let note: JSONObject = ["note": .string(String(repeating: "x", count: 900_000))]
        for number in 0..<40 {
            var record = AccountRecord(
                group: Sample.app().effectiveGroup, homeAccountID: HomeAccountID(rawValue: "person-\(number)"),
                environment: "id.example.org", realm: "", authority: "https://id.example.org", username: "p",
                createdAt: 1)
            record.extra = note
            try await bed.vault.commit(
                VaultChange(
                    in: Sample.partition, puts: [try bed.vault.seal(record, secret: nil, in: Sample.partition).sealed]))
        }
        let engine = try await bed.restarted()
        var others = file(secret: "bob's")
        for section in ["Account", "RefreshToken", "AccessToken"] {
            others[section] = others[section].flatMap(\.objectValue).map { entries in
                .object(
                    entries.mapValues { entry in
                        let bobs: JSONObject = ["home_account_id": "bob", "local_account_id": "bob"]
                        return .object((entry.objectValue ?? [:]).merging(bobs) { $1 })
                    })
            }
        }
        let report = try await engine.importCache(others, for: nil, in: Sample.partition)
        #expect(report.accounts == 0 && report.refreshTokens == 0 && report.accessTokens == 0)
        #expect(report.problems == ["1 of the accounts are left out: mail has reached the limit for one app."])
        let newer = file(secret: "newer", time: "1799999500")
        #expect(try await engine.importCache(newer, for: nil, in: Sample.partition).refreshTokens == 1)
    }

    @Test("an unregistered client is reported with its registration command, and a chosen app takes its own tokens")
    func unregistered() async throws {
        let bed = try await bed()
        let report = try await take(bed, file(client: "client-9"))
        #expect(report.refreshTokens == 0)
        #expect(
            report.unregistered == [
                UnregisteredClient(
                    clientID: "client-9", environment: "id.example.org", authority: "https://id.example.org")
            ])
        let chosen = Sample.app("nine", client: "client-9")
        let given = try await take(bed, file(client: "client-9"), for: chosen)
        #expect(given.refreshTokens == 1 && given.unregistered.isEmpty)
        _ = try await bed.engine.acquireSilent(bed.silent(chosen))
    }

    /// The fields in the records on disk that the broker does not know.
    private func unknownFields(_ bed: EngineBed, _ app: AppRegistration = Sample.app()) throws -> [JSONObject?] {
        let vault = bed.vault
        let bucket = Sample.owner(app).bucket
        let accounts = try vault.load(
            AccountRecord.self, bucket: [app.effectiveGroup.rawValue], in: Sample.partition)
        let tokens = try vault.load(RefreshTokenRecord.self, bucket: bucket, in: Sample.partition)
        let metadata = try vault.loadAll(AppMetadataRecord.self, in: Sample.partition)
        return [accounts.first?.record.extra, tokens.first?.record.extra, metadata.first?.record.extra]
    }

    @Test("unknown fields survive a silent refresh and a sign-in, each with their record")
    func unknownFields() async throws {
        let bed = try await bed()
        _ = try await take(bed, file())
        let (account, token, metadata): (JSONObject, JSONObject, JSONObject) = (
            ["account_source": "broker"], ["flow": "device"], ["consented_apps": ["x"]]
        )
        #expect(try unknownFields(bed)[1] == token)
        // A response without an ID token, one with it, and one that moves the app into a family.
        for (user, family) in [(nil, nil), ("alice", nil), ("alice", "1")] as [(String?, String?)] {
            bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in
                var response = provider.tokens(for: user)
                response.familyID = family
                return response
            }
            _ = try await bed.engine.acquireSilent(bed.silent { $0.forceRefresh = true })
            #expect(try unknownFields(bed) == [account, token, metadata])
        }
        #expect(bed.provider.refreshes == ["imported", "rt-1", "rt-2"])
        // The refresh token of a new sign-in is a new grant.
        bed.provider.whenRedeeming(nil)
        try await bed.signIn()
        #expect(try unknownFields(bed) == [account, nil, metadata])
    }

    @Test("unknown fields of a refresh token survive an unusable and a lost response")
    func unknownFieldsInTrouble() async throws {
        let bed = try await bed()
        _ = try await take(bed, file())
        bed.provider.whenRedeeming { _ throws(ProviderError) in throw .outcomeUnknown("The answer did not arrive.") }
        await #expect(throws: BrokerError.self) {
            try await bed.engine.acquireSilent(bed.silent { $0.forceRefresh = true })
        }
        #expect(try unknownFields(bed)[1] == ["flow": "device"])
        bed.clock.advance(bySeconds: 120)
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in provider.tokens(for: "forged") }
        await #expect(throws: BrokerError.self) {
            try await bed.engine.acquireSilent(bed.silent { $0.forceRefresh = true })
        }
        #expect(bed.provider.refreshes == ["imported", "imported"])
        #expect(try unknownFields(bed)[1] == ["flow": "device"])
    }

    @Test("a full disk is reported")
    func diskFull() async throws {
        let bed = try await bed()
        bed.vault.failWriting(.full("no space"))
        let error = await #expect(throws: BrokerError.self) { try await take(bed, file()) }
        #expect(error?.reason == .vaultNotWritable)
    }
}

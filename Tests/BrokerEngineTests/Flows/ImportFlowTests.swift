import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Importing a cache of MSAL's", .timeLimit(.minutes(1)))
struct ImportFlowTests {
    /// The same file for a provider without tenants, where the test's provider is.
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
                    "local_account_id": "alice",
                ]
            ],
            "RefreshToken": ["r": credential(["target": "mail.read", "last_modification_time": .string(time)])],
            "AccessToken": [
                "t": credential(["target": "mail.read", "cached_at": .string(time), "expires_on": "1800003000"])
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

    @Test("after it, the cached token is answered, and the refresh token works, also after a restart")
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

    @Test("what the broker has and is not older stays; taking a file twice takes nothing twice")
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

    @Test("each group with the client has the tokens, no other has; apps that share client and group count once")
    func groups() async throws {
        let group = [Sample.app("mail", group: "office"), Sample.app("mail-too", group: "office")]
        let alone = Sample.app("alone")
        let stranger = Sample.app("stranger", client: "client-2", group: "office")
        let bed = try await bed(group + [alone, stranger])
        #expect(try await take(bed, file()).refreshTokens == 2)
        for app in group + [alone] { _ = try await bed.engine.acquireSilent(bed.silent(app)) }
        await #expect(throws: BrokerError.self) { try await bed.engine.acquireSilent(bed.silent(stranger)) }
    }

    @Test("a client that no app is registered for is reported with what would register it; a chosen app takes its own")
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

    @Test("a disk that is full says so")
    func diskFull() async throws {
        let bed = try await bed()
        bed.vault.refuse(.full("no space"))
        let error = await #expect(throws: BrokerError.self) { try await take(bed, file()) }
        #expect(error?.reason == .vaultNotWritable)
    }
}

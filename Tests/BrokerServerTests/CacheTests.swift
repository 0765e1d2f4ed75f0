import BrokerModel
import BrokerRPC
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("The cache over a real socket")
struct CacheTests {
    private static let passphrase = "correct horse"

    private func export(_ client: LineClient) async throws -> [UInt8] {
        let transfer = try await client.call(ExportCache.self, .init(passphrase: Self.passphrase)).transfer
        var bytes: [UInt8] = []
        while true {
            let part = try await client.call(ExportCachePart.self, .init(transfer: transfer))
            bytes += try #require(Base64.decodeLeniently(part.data.utf8))
            if part.done { return bytes }
        }
    }

    private func upload(_ bytes: [UInt8], _ client: LineClient) async throws -> String {
        let (first, second) = (bytes.prefix(100), bytes.dropFirst(100))
        let transfer = try await client.call(ImportCachePart.self, .init(transfer: nil, data: Base64.encode(first)))
            .transfer
        return try await client.call(ImportCachePart.self, .init(transfer: transfer, data: Base64.encode(second)))
            .transfer
    }

    @Test("a backup is exported and imported in parts, and clearing the cache keeps the apps")
    func outAndIn() async throws {
        try await ServerBed.runSignedIn { server in
            let backup = try await export(try await server.connect())
            let client = try await server.connect()
            let cleared = try await client.call(ClearCache.self, .init())
            #expect(cleared.accounts == 1 && cleared.tokens == 3)
            #expect(try await client.call(ListApps.self, .init()).apps.map(\.name) == ["mail"])
            #expect(try await client.refusal(of: AcquireTokenSilent.self, .of("mail"))?.data?.reason == .noTokens)
            let transfer = try await upload(backup, client)
            let wrong = try await client.refusal(
                of: ImportBackup.self, .init(transfer: transfer, passphrase: "another horse"))
            #expect(wrong?.data?.kind == .accessDenied && wrong?.data?.reason == .wrongPassphrase)
            let report = try await client.call(
                ImportBackup.self, .init(transfer: transfer, passphrase: Self.passphrase))
            #expect(report.accounts.added == 1 && report.apps.kept == 1 && report.problems.isEmpty)
            #expect(try await client.call(AcquireTokenSilent.self, .of("mail")).account.username == "ann")
            let over = try await client.refusal(
                of: ImportBackup.self, .init(transfer: transfer, passphrase: Self.passphrase))
            #expect(over?.data?.kind == .invalidParameter)
        }
    }

    @Test("the parts of a backup are not audited one by one, but as one export and one import")
    func auditedOnce() async throws {
        try await ServerBed.runSignedIn { server in
            let client = try await server.connect()
            let backup = try await export(client)
            let transfer = try await upload(backup, client)
            _ = try await client.call(ImportBackup.self, .init(transfer: transfer, passphrase: Self.passphrase))
            let log = try await client.call(ListAudit.self, .init())
            let told = log.entries.filter { $0.method.hasPrefix("cache.") }.map { "\($0.method) \($0.count)" }
            #expect(told == ["cache.export 1", "cache.exportPart 1", "cache.importBackup 1"])
        }
    }

    @Test("only one passphrase per user is processed at a time, and another export is refused at once")
    func onePassphrase() async throws {
        try await ServerBed.run { server in
            let gate = Gate()
            server.vault.holdBackups(until: gate)
            let first = try await server.connect()
            try await first.send(ExportCache.requestLine(id: 1, .init(passphrase: Self.passphrase)))
            try await server.vault.waitForHeldBackups()
            let second = try await server.connect()
            let refused = try await second.refusal(of: ExportCache.self, .init(passphrase: Self.passphrase))
            #expect(refused?.data?.kind == .throttled && refused?.data?.retryAfter == 1)
            #expect(server.vault.heldBackups == 1)
            gate.open()
            _ = try await first.readResult()
            _ = try await export(second)
        }
    }

    @Test("a client that waits for a backup's key and goes away leaves its slot to the next")
    func goneAway() async throws {
        try await ServerBed.run { server in
            server.vault.holdBackups(until: Gate())
            let first = try await server.connect()
            try await first.send(ExportCache.requestLine(id: 1, .init(passphrase: Self.passphrase)))
            try await server.vault.waitForHeldBackups()
            await first.close()
            server.vault.holdBackups(until: Gate(open: true))
            let second = try await server.connect()
            try await eventually("its place is free") {
                try await second.refusal(of: ExportCache.self, .init(passphrase: Self.passphrase)) == nil
            }
        }
    }

    @Test("a lock does not wait for a passphrase, and an export in progress is answered with locked")
    func lockedMeanwhile() async throws {
        try await ServerBed.run { server in
            server.vault.holdBackups(until: Gate())
            let exporting = try await server.connect()
            try await exporting.send(ExportCache.requestLine(id: 1, .init(passphrase: Self.passphrase)))
            try await server.vault.waitForHeldBackups()
            #expect(try await server.connect().call(LockBroker.self, .init()).locked)
            #expect(try await exporting.readRefusal()?.data?.kind == .locked)
        }
    }

    @Test("a stop does not wait for a passphrase")
    func stoppedMeanwhile() async throws {
        try await ServerBed.run { server in
            server.vault.holdBackups(until: Gate())
            let exporting = try await server.connect()
            try await exporting.send(ExportCache.requestLine(id: 1, .init(passphrase: Self.passphrase)))
            try await server.vault.waitForHeldBackups()
            await server.broker.drain()
            #expect(try await exporting.readRefusal()?.data?.kind == .serverUnavailable)
        }
    }

    @Test("a differing app is skipped and named, or replaced on request")
    func apps() async throws {
        try await ServerBed.runSignedIn { server in
            let client = try await server.connect()
            let backup = try await export(client)
            var params = RegisterApp.Params(name: "mail", clientId: "another", authority: ServerBed.authority)
            params.replace = true
            _ = try await client.call(RegisterApp.self, params)
            for replaceApps in [false, true] {
                var params = ImportBackup.Params(
                    transfer: try await upload(backup, client), passphrase: Self.passphrase)
                params.replaceApps = replaceApps
                let report = try await client.call(ImportBackup.self, params)
                #expect(report.apps.replaced == (replaceApps ? 1 : 0) && report.apps.kept == (replaceApps ? 0 : 1))
                #expect(report.problems.contains { $0.contains("mail") && $0.contains("--replace") } == !replaceApps)
                let app = try await client.call(ListApps.self, .init()).apps.first
                #expect(app?.clientID == (replaceApps ? "client-of-mail" : "another"))
            }
        }
    }

    @Test("invalid base64 and an unknown transfer are refused")
    func nonsense() async throws {
        try await ServerBed.run { server in
            let client = try await server.connect()
            let data = try await client.refusal(of: ImportCachePart.self, .init(transfer: nil, data: "?"))
            let part = try await client.refusal(of: ExportCachePart.self, .init(transfer: "nothing"))
            for error in [data, part] { #expect(error?.data?.kind == .invalidParameter) }
        }
    }

    @Test("removing an account removes the grants for it alone", arguments: [true, false])
    func grants(isCleared: Bool) async throws {
        try await ServerBed.runSignedIn { server in
            try await server.signIn("bob", to: "mail")
            let client = try await server.connect()
            for username in ["ann", "bob", nil] {
                var params = ApproveGrant.Params()
                params.caller = CallerIdentity(tier: .sandboxed, id: "org.example.Game")
                params.app = "mail"
                params.account = username.map { .username($0) }
                _ = try await client.call(ApproveGrant.self, params)
            }
            if isCleared {
                _ = try await client.call(ClearCache.self, .init())
            } else {
                _ = try await client.call(ForgetAccount.self, .init(.username("ann")))
            }
            let left = try await client.call(ListGrants.self, .init()).grants
            #expect(left.count == (isCleared ? 1 : 2))
        }
    }

    @Test("removing an account voids it and its grants in memory if the disk is full", arguments: [true, false])
    func fullDisk(isCleared: Bool) async throws {
        try await ServerBed.runSignedIn { server in
            let client = try await server.connect()
            for id in ["org.example.Game", "org.example.Mail"] {
                var params = ApproveGrant.Params()
                params.caller = CallerIdentity(tier: .sandboxed, id: id)
                (params.app, params.account) = ("mail", .username("ann"))
                _ = try await client.call(ApproveGrant.self, params)
            }
            server.vault.failWriting(.io("disk full"))
            let refusal =
                isCleared
                ? try await client.refusal(of: ClearCache.self, .init())
                : try await client.refusal(of: ForgetAccount.self, .init(.username("ann")))
            #expect(refusal?.data?.reason == .vaultNotWritable)
            #expect(try await client.call(ListGrants.self, .init()).grants.isEmpty)
            let everybody = ListAccounts.Params(nil, includingSignedOut: true)
            #expect(try await client.call(ListAccounts.self, everybody).accounts.isEmpty)
            server.vault.failWriting(nil)
        }
    }

    @Test("statistics cover the person's own data only, and a locked broker returns none")
    func statistics() async throws {
        try await ServerBed.runSignedIn { server in
            let client = try await server.connect()
            let counts = try await client.call(GetCacheStatistics.self, .init())
            #expect(counts.accounts == 1 && counts.apps == 1 && counts.records.refreshTokens == 1)
            _ = try await client.call(LockBroker.self, .init())
            let refusals = [
                try await client.refusal(of: GetCacheStatistics.self, .init()),
                try await client.refusal(of: ExportCache.self, .init(passphrase: Self.passphrase)),
                try await client.refusal(of: ImportCachePart.self, .init(transfer: nil, data: "")),
                try await client.refusal(of: ForgetAccount.self, .init(.username("ann"))),
            ]
            for error in refusals { #expect(error?.data?.kind == .locked) }
        }
    }
}

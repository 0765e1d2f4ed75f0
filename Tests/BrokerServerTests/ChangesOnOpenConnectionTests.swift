import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerTestSupport
import BrokerValues
import Glibc
import Testing

/// Each request is decided anew, even if the same connection made the same request a moment ago.
@Suite("Changes under an open connection")
struct ChangesOnOpenConnectionTests {
    private static let game = "org.example.Game"

    @Test(
        "equal requests have ids and correlation ids of their own, and each is logged, counted and audited",
        arguments: [true, false])
    func told(isLogged: Bool) async throws {
        let log = LogCollector()
        try await ServerBed.run(log: isLogged ? log.logger : .silent) { server in
            try await server.register("mail")
            try await server.signIn("ann", to: "mail")
            let client = try await server.connect()
            var names: [String] = []
            for id in [1, 22, 333] as [Int64] {
                try await client.send(AcquireTokenSilent.requestLine(id: id, .of("mail")))
                let answer = try await client.readJSON()
                #expect(answer["id"]?.value == .integer(id))
                let token = try Token(reading: try #require(answer["result"]))
                #expect(token.accessToken == "at-1" && token.idToken == "ann" && token.fromCache && token.persisted)
                names.append(token.correlationId)
            }
            #expect(Set(names).count == 3)
            let told = log.lines.count { $0.hasPrefix("debug ") && $0.contains(" as mail: a token from the cache") }
            #expect(told == (isLogged ? 3 : 0))
            #expect(!isLogged || Set(names).isSubset(of: log.values(of: "correlation_id")))
            let metrics = try await client.call(GetMetrics.self, .init())
            #expect(metrics.latencies.map(\.total) == [3, 0])
            #expect(metrics.requests.first { $0.method == AcquireTokenSilent.name }?.ended.count == 3)
            let audited = try await client.call(ListAudit.self, .init()).entries
            #expect(audited.filter { $0.outcome == "cached" && $0.app == "mail" }.reduce(0) { $0 + $1.count } == 3)
        }
    }

    // MARK: Callers and apps

    enum Registration: CaseIterable, Sendable {
        case otherClient, lowerCeiling, otherPrograms, removed, ofAFile

        func happen(on server: ServerBed) async throws {
            var params = RegisterApp.Params(name: "mail", clientId: "client-of-mail", authority: ServerBed.authority)
            switch self {
            case .otherClient: params.description.clientID = "another"
            case .lowerCeiling: params.description.allowedScopes = ["write"]
            case .otherPrograms: params.description.executables = ["/usr/bin/another"]
            case .removed: return _ = try await server.connect().call(RemoveApp.self, .init(name: "mail"))
            case .ofAFile:
                var entry = AppFileEntry(name: "mail", origin: "/etc/brokerd/apps.d/mail.toml:1")
                (entry.description.clientID, entry.authority) = ("another", ServerBed.authority)
                return server.apps.apply([entry])
            }
            _ = try await server.connect().call(RegisterApp.self, params)
        }

        var kind: ErrorKind {
            switch self {
            case .otherClient, .ofAFile: .interactionRequired
            case .lowerCeiling, .otherPrograms: .accessDenied
            case .removed: .appNotFound
            }
        }
    }

    @Test("a replaced, limited or removed registration takes effect at once", arguments: Registration.allCases)
    func registration(_ change: Registration) async throws {
        try await ServerBed.runConnected { server, scene in
            try await change.happen(on: server)
            #expect(try await scene.askAgain().kind == change.kind.rawValue)
        }
    }

    @Test("an app from a file becomes the vault's again when the file is gone")
    func fileGone() async throws {
        try await ServerBed.runConnected { server, scene in
            try await Registration.ofAFile.happen(on: server)
            try await scene.askAgain()
            server.apps.apply([AppFileEntry]())
            #expect(try await scene.askAgain().token == "at-1")
        }
    }

    @Test("the rule of a tier takes effect at once, in both directions")
    func tiers() async throws {
        try await ServerBed.runConnected { (server, scene) async throws in
            var settings = AccessSettings(servedUID: getuid())
            settings.tiers.unknown = .deny
            server.policy.apply(settings)
            #expect(try await scene.askAgain().reason == ErrorReason.callerNotListed.rawValue)
            settings.tiers.unknown = .allow
            server.policy.apply(settings)
            #expect(try await scene.askAgain().token == "at-1")
        }
    }

    @Test("a caller's own client is refused at once when such clients are forbidden")
    func adHoc() async throws {
        try await ServerBed.run { server in
            let app = AppReference.adHoc(clientID: "client", authority: ServerBed.authority)
            let signingIn = try await server.connect()
            try await signingIn.send(
                AcquireTokenInteractive.requestLine(id: 1, AcquireTokenInteractive.Params(app, scopes: ["read"])))
            let opening = try await signingIn.readOpening()
            _ = try await server.connect().call(CompleteInteraction.self, .init(url: opening.redirect(code: "ann")))
            _ = try await signingIn.readResult()
            let scene = try await OpenConnectionScene(server, AcquireTokenSilent.Params(app, scopes: ["read"]))
            var settings = AccessSettings(servedUID: getuid())
            settings.allowsAdHocClients = false
            server.policy.apply(settings)
            #expect(try await scene.askAgain().reason == ErrorReason.adHocForbidden.rawValue)
        }
    }

    @Test("a revoked grant admits no request any more")
    func grants() async throws {
        try await ServerBed.runSignedIn { server in
            var params = ApproveGrant.Params()
            (params.caller, params.app) = (CallerIdentity(tier: .sandboxed, id: Self.game), "mail")
            let administrator = try await server.connect()
            let grant = try await administrator.call(ApproveGrant.self, params).grant
            server.inspector.enter(Self.game)
            let scene = try await OpenConnectionScene(server)
            for _ in 1...3 { #expect(try await scene.ask().token == "at-1") }
            server.inspector.enter(nil)
            _ = try await administrator.call(RevokeGrant.self, .init(id: grant.id))
            server.inspector.enter(Self.game)
            #expect(try await scene.askAgain().kind == ErrorKind.grantRequired.rawValue)
        }
    }

    @Test("sandboxes get nothing after a vault was restored, until the restore is accepted")
    func rollback() async throws {
        try await ServerBed.run { server in
            var params = RegisterApp.Params(name: "mail", clientId: "client-of-mail", authority: ServerBed.authority)
            params.description.sandboxIDs = [Self.game]
            params.description.executables = ["/test"]
            _ = try await server.connect().call(RegisterApp.self, params)
            try await server.signIn("ann", to: "mail")
            let outside = try await OpenConnectionScene(server)
            #expect(try await outside.ask().token == "at-1")
            server.inspector.enter(Self.game)
            let scene = try await OpenConnectionScene(server)
            server.vault.rollBack()
            #expect(try await scene.askAgain().reason == ErrorReason.vaultRolledBack.rawValue)
            // An administrator can allow itself everything, and needs no proof here.
            #expect(try await outside.ask().token == "at-1")
            try await server.broker.partitions.acceptState(of: Partition(uid: getuid()))
            #expect(try await scene.askAgain().token == "at-1")
        }
    }

    /// Connects, asks twice, and has another process ask the same on its connection.
    private static let handingOn = """
        import os, socket, sys
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(sys.argv[1])
        answers = connection.makefile()
        for number in (1, 2, 3):
            line = sys.argv[2].replace('NUMBER', str(number)).encode() + b'\\n'
            if number < 3:
                connection.sendall(line)
            elif os.fork() == 0:
                connection.sendall(line)
                os._exit(0)
            else:
                os.wait()
            print(answers.readline(), end='')
        """

    @Test("a writer on another's connection does not get what the other got")
    func handedOn() async throws {
        try await withTestBed { bed in
            try await ServerBed.runSignedIn { server in
                server.inspector.enterAfterNext(Self.game)
                let line =
                    #"{"jsonrpc":"2.0","id":NUMBER,"method":"token.acquireSilent","params":{"app":"mail","scopes":["read"]}}"#
                let result = try await bed.run(
                    Launch("/usr/bin/python3", ["-c", Self.handingOn, server.path, line]))
                #expect(result.succeeded, "\(result)")
                let answers = try result.output.split(separator: "\n").map { PlainAnswer(try JSONReader.read($0.utf8)) }
                #expect(answers.map(\.token) == ["at-1", "at-1", nil])
                #expect(answers.last?.kind == ErrorKind.grantRequired.rawValue)
            }
        }
    }

    // MARK: Accounts and tokens

    enum CacheEvent: CaseIterable, Sendable {
        case refresh, rejection, signOut, removal, forgetting, clearing, anotherPerson

        func happen(on server: ServerBed) async throws {
            let client = try await server.connect()
            var params = AcquireTokenSilent.Params.of("mail")
            switch self {
            case .refresh:
                params.forceRefresh = true
                _ = try await client.call(AcquireTokenSilent.self, params)
            case .rejection:
                params.rejectedToken = "at-1"
                _ = try await client.call(AcquireTokenSilent.self, params)
            case .signOut:
                var params = SignOutAccount.Params(.username("ann"))
                params.selection.app = "mail"
                _ = try await client.call(SignOutAccount.self, params)
            case .removal:
                _ = try await client.call(RemoveAccount.self, .init(.username("ann"), from: .registered("mail")))
            case .forgetting: _ = try await client.call(ForgetAccount.self, .init(.username("ann")))
            case .clearing: _ = try await client.call(ClearCache.self, .init())
            case .anotherPerson: try await server.signIn("bob", to: "mail")
            }
        }

        /// The token, or the kind of the error.
        var outcome: String {
            switch self {
            case .refresh, .rejection: "at-2"
            case .signOut, .removal, .forgetting, .clearing: ErrorKind.interactionRequired.rawValue
            case .anotherPerson: ErrorKind.ambiguousAccount.rawValue
            }
        }
    }

    @Test("a change of an account or a token elsewhere takes effect at once", arguments: CacheEvent.allCases)
    func cache(_ event: CacheEvent) async throws {
        try await ServerBed.runConnected { server, scene in
            try await event.happen(on: server)
            let answer = try await scene.askAgain()
            #expect(answer.token ?? answer.kind == event.outcome)
        }
    }

    @Test("a token's answer says that it is not on disk yet, until it is")
    func unwritten() async throws {
        try await ServerBed.runConnected { server, scene in
            server.vault.failWriting(.full("no space"))
            try await CacheEvent.refresh.happen(on: server)
            for _ in 1...2 {
                let answer = try await scene.askAgain()
                #expect(answer.token == "at-2" && answer.persisted == false)
            }
            server.vault.failWriting(nil)
            try await eventually("it is tried again") { server.clock.sleepers > 0 }
            server.clock.advance(bySeconds: EngineSettings().writeRetryInterval)
            try await eventually("the disk has it") { try await scene.ask().persisted == true }
        }
    }

    @Test("a token that does not open any more is not returned")
    func damaged() async throws {
        try await ServerBed.runConnected { (server, scene) async throws in
            server.vault.damage([.accessToken])
            #expect(try await scene.askAgain().kind == ErrorKind.internal.rawValue)
        }
    }

    @Test("a change of the expiry buffer takes effect at once")
    func expiryBuffer() async throws {
        try await ServerBed.runConnected { (server, scene) async throws in
            server.provider.whenRedeeming { [unowned provider = server.provider] _ in provider.tokens(expiresIn: 9_000)
            }
            server.clock.setWallClock(bySeconds: 2_881)
            #expect(try await scene.ask().token == "at-1")
            var settings = EngineSettings()
            settings.expiryBuffer = 720
            server.broker.apply(settings)
            #expect(try await scene.askAgain().token == "at-2")
        }
    }

    @Test("a token due for renewal is renewed, due by the setting or by the clock", arguments: [1, 50])
    func refreshShare(share: Int) async throws {
        try await ServerBed.runSignedIn { server in
            var settings = EngineSettings()
            settings.refreshShare = share == 1 ? 0 : share
            server.broker.apply(settings)
            if share == 1 { server.clock.setWallClock(bySeconds: 1_800) }
            let scene = try await OpenConnectionScene(server)
            server.provider.refreshGate.close()
            settings.refreshShare = share
            if share == 1 { server.broker.apply(settings) } else { server.clock.setWallClock(bySeconds: 1_800) }
            #expect(try await scene.askAgain().token == "at-1")
            try await server.provider.refreshGate.waitForCallers()
            server.provider.refreshGate.open()
            try await eventually("it is over") { try await scene.ask().token == "at-2" }
        }
    }

    // MARK: The clock, the lock, and the end

    @Test("a token is not returned after its end, nor if it is from the future", arguments: [3_301, -10] as [Int64])
    func wallClock(step: Int64) async throws {
        try await ServerBed.runConnected { (server, scene) async throws in
            server.clock.setWallClock(bySeconds: step)
            #expect(try await scene.askAgain().token == "at-2")
        }
    }

    @Test("a token is not returned with less lifetime than requested")
    func minimumLifetime() async throws {
        var params = AcquireTokenSilent.Params.of("mail")
        params.query.minimumLifetime = 3_000
        try await ServerBed.runConnected(params) { (server, scene) async throws in
            server.clock.setWallClock(bySeconds: 600)
            #expect(try await scene.ask().token == "at-1")
            server.clock.setWallClock(bySeconds: 1)
            #expect(try await scene.askAgain().token == "at-2")
        }
    }

    @Test("a locked broker returns nothing, and works again once unlocked", arguments: [true, false])
    func lock(asksMeanwhile: Bool) async throws {
        try await ServerBed.runConnected { server, scene in
            await server.broker.lock.lock(because: "of a test")
            if asksMeanwhile { #expect(try await scene.askAgain().kind == ErrorKind.locked.rawValue) }
            try await server.broker.lock.unlock(passphrase: nil, caller: "a test")
            #expect(try await scene.askAgain().token == "at-1")
        }
    }

    @Test("a token still opens after the data keys were replaced")
    func dataKeys() async throws {
        try await ServerBed.runConnected { server, scene in
            _ = try await server.connect().call(RotateKey.self, .init())
            #expect(try await scene.ask().token == "at-1")
            #expect(try await scene.ask() == scene.ask(on: server.connect()))
        }
    }

    @Test("a request is refused while its user has too many in progress")
    func tooMany() async throws {
        try await ServerBed.run(requestsPerUser: 1) { server in
            try await server.register("mail")
            try await server.signIn("ann", to: "mail")
            let scene = try await OpenConnectionScene(server)
            let gate = Gate()
            server.provider.holdMetadata(at: gate)
            let before = server.provider.asked.count
            var clients: [LineClient] = []
            for number in 1...2 {
                clients.append(try await server.connect())
                var params = RegisterApp.Params(
                    name: "app-\(number)", clientId: "c", authority: ServerBed.authority)
                params.checkAuthority = true
                try await clients.last?.send(RegisterApp.requestLine(id: 1, params))
                try await server.provider.waitForQuestions(before + number)
            }
            #expect(try await scene.askAgain().kind == ErrorKind.throttled.rawValue)
            gate.open()
            for client in clients { _ = try await client.readResult() }
        }
    }

    @Test("a stopping broker refuses requests")
    func stopping() async throws {
        try await ServerBed.runConnected { server, scene in
            let gate = Gate()
            server.vault.hold(until: gate)
            let params = RegisterApp.Params(name: "other", clientId: "c", authority: ServerBed.authority)
            try await scene.client.send(RegisterApp.requestLine(id: 9, params))
            try await server.vault.waitForHeld()
            async let cutOff = server.listener.shutDown(within: .seconds(600))
            // This connection's thread may learn of it later.
            try await eventually("it is refused") {
                try await scene.ask().reason == ErrorReason.shuttingDown.rawValue
            }
            gate.open()
            #expect(try await scene.client.readJSON()["id"]?.value == 9)
            #expect(await cutOff == 0)
        }
    }
}

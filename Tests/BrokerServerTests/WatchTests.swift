import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerServer
import BrokerSocket
import BrokerTestSupport
import BrokerValues
import Glibc
import Testing

@Suite("token.watch over a real socket")
struct WatchTests {
    private func watch(
        _ server: ServerBed, _ client: LineClient, _ change: (inout WatchToken.Params) -> Void = { _ in }
    ) async throws -> Token {
        var params = WatchToken.Params.of("mail")
        change(&params)
        return try await client.call(WatchToken.self, params)
    }

    /// Waits until all watches have checked once for earlier events, and sleep.
    private func settle(_ server: ServerBed) async throws { try await server.clock.waitForSleepers() }

    @Test("a watch returns a token and its name, and each new token comes once before the old one expires")
    func renewal() async throws {
        try await ServerBed.runSignedIn { server in
            let client = try await server.connect()
            let first = try await watch(server, client)
            #expect(first.accessToken == "at-1" && first.watch == "w1")
            try await settle(server)
            server.clock.advance(bySeconds: 3_350)
            let changed = try await client.readEvent(TokenChanged.self)
            #expect(
                changed.watch == "w1" && changed.token.accessToken == "at-2" && changed.token.account.username == "ann")
            #expect(changed.token.authorizationHeader == "Bearer at-2")
            let silent = try await server.connect().call(AcquireTokenSilent.self, .of("mail"))
            #expect(silent.accessToken == "at-2" && silent.fromCache)
            #expect(server.provider.refreshes == ["rt-1"])
            // And so on.
            try await settle(server)
            server.clock.advance(bySeconds: 3_350)
            #expect(try await client.readEvent(TokenChanged.self).token.accessToken == "at-3")
        }
    }

    @Test("many watches of one token share one refresh, whatever their clients, and a thousand work")
    func shared() async throws {
        try await ServerBed.runSignedIn { server in
            var clients: [LineClient] = []
            for _ in 0..<16 {
                let client = try await server.connect()
                for _ in 0..<63 { _ = try await watch(server, client) }
                clients.append(client)
            }
            try await settle(server)
            server.clock.advance(bySeconds: 3_350)
            for client in clients {
                for _ in 0..<63 {
                    #expect(try await client.readEvent(TokenChanged.self).token.accessToken == "at-2")
                }
            }
            #expect(server.provider.refreshes.count == 1)
        }
    }

    @Test("another caller's refresh is notified, too, and a claims challenge causes no extra refresh")
    func others() async throws {
        try await ServerBed.runSignedIn { server in
            let client = try await server.connect()
            _ = try await watch(server, client)
            // Two that want more lifetime than the provider gives do not renew each other's tokens.
            _ = try await watch(server, client) { $0.query.minimumLifetime = 3_500 }
            try await settle(server)
            var forced = AcquireTokenSilent.Params.of("mail")
            forced.forceRefresh = true
            _ = try await server.connect().call(AcquireTokenSilent.self, forced)
            // They check the cache once per second at most.
            server.clock.advance(bySeconds: 1)
            let events = [try await client.readEvent(TokenChanged.self), try await client.readEvent(TokenChanged.self)]
            #expect(Set(events.map(\.watch)) == ["w1", "w2"])
            #expect(events.allSatisfy { $0.token.accessToken == "at-2" })
            #expect(server.provider.refreshes.count == 1)
        }
    }

    @Test("a watch that begins after a step-up continues without another one")
    func stepUp() async throws {
        let challenge = try ResourceChallenge(#"Bearer error="insufficient_user_authentication", max_age=600"#)
        try await ServerBed.runSignedIn { server in
            let client = try await server.connect()
            let first = try await watch(server, client) {
                $0.query.challenge = challenge
                $0.rejectedToken = "at-0"
            }
            #expect(first.accessToken == "at-1")
            try await settle(server)
            server.clock.advance(bySeconds: 3_350)
            #expect(try await client.readEvent(TokenChanged.self).token.accessToken == "at-2")
        }
    }

    @Test("a watch ends with token.unwatch, once, and on its own connection only")
    func unwatch() async throws {
        try await ServerBed.runSignedIn { server in
            let client = try await server.connect()
            let name = try #require(try await watch(server, client).watch)
            let other = try await server.connect()
            #expect(try await !other.call(UnwatchToken.self, .init(watch: name)).unwatched)
            #expect(try await client.call(UnwatchToken.self, .init(watch: name)).unwatched)
            #expect(try await !client.call(UnwatchToken.self, .init(watch: name)).unwatched)
            server.clock.advance(bySeconds: 3_350)
            // An event would precede this answer.
            _ = try await client.call(GetBrokerStatus.self, .init())
            #expect(server.provider.refreshes.isEmpty)
        }
    }

    @Test("the end of a connection ends its watches, without further refreshes, and frees their slots")
    func connectionEnds() async throws {
        try await ServerBed.runSignedIn { server in
            for _ in 0..<20 {
                let client = try await server.connect()
                for _ in 0..<WatchPlaces.maximumEach { _ = try await watch(server, client) }
                await client.close()
            }
            let last = try await server.connect()
            try await eventually("the connections have ended") {
                try await last.call(GetBrokerStatus.self, .init()).connections == 1
            }
            try await server.clock.waitForNoSleepers()
            server.clock.advance(bySeconds: 3_350)
            _ = try await last.call(GetBrokerStatus.self, .init())
            #expect(server.provider.refreshes.isEmpty)
        }
    }

    @Test("a connection has a limited number of watches, and may have another after one ended")
    func limit() async throws {
        try await ServerBed.runSignedIn { server in
            let client = try await server.connect()
            for _ in 0..<WatchPlaces.maximumEach { _ = try await watch(server, client) }
            let refusal = try await client.refusal(of: WatchToken.self, .of("mail"))
            #expect(refusal?.data?.kind == .throttled && refusal?.data?.reason == .tooManySubscriptions)
            #expect(try await client.call(UnwatchToken.self, .init(watch: "w5")).unwatched)
            #expect(try await watch(server, client).accessToken == "at-1")
        }
    }

    @Test("a program has a tenth of all watches, over all its connections")
    func limitOfProgram() {
        let watches = WatchPlaces()
        var places: [Subscription] = []
        let program = QuotaOwner.program(CallerIdentity(tier: .unknown, id: "/usr/bin/mail"))
        while let place = try? watches.take(for: program, of: Partition(uid: 1000)) { places.append(place) }
        #expect(places.count == WatchPlaces.most / 10)
        let other = QuotaOwner.program(CallerIdentity(tier: .unknown, id: "/usr/bin/other"))
        #expect((try? watches.take(for: other, of: Partition(uid: 1000))) != nil)
        places = []
        #expect((try? watches.take(for: program, of: Partition(uid: 1000))) != nil)
    }

    @Test("watches keep some of a program's connections, and the quiet ones beyond those are evicted")
    func places() async throws {
        var limits = ConnectionLimits()
        // A program has a tenth of the 256 that stay.
        (limits.quiet, limits.connections, limits.reserve) = (.zero, 27, 0)
        try await ServerBed.runSignedIn(limits: limits) { server in
            var clients: [LineClient] = []
            for _ in 0..<27 {
                let client = try await server.connect()
                _ = try await watch(server, client)
                clients.append(client)
            }
            let silent = try await server.connect().call(AcquireTokenSilent.self, .of("mail"))
            #expect(silent.fromCache)
            #expect(try await clients.removeLast().readLine() == nil, "the last one has no place by its watch")
            for client in clients {
                #expect(try await client.call(UnwatchToken.self, .init(watch: "w1")).unwatched)
            }
        }
    }

    /// Has a child connect, ask, and end; then reads from its connection, which it shares.
    private static let inheriting = """
        import os, socket, sys
        connection = socket.socket(socket.AF_UNIX)
        if os.fork() == 0:
            connection.connect(sys.argv[1])
            answers = connection.makefile()
            for line in sys.argv[2:]:
                connection.sendall(line.encode() + b'\\n')
                answers.readline()
            os._exit(0)
        os.wait()
        print('alone', flush=True)
        for line in connection.makefile():
            print(line, end='', flush=True)
            if 'tokenEnded' in line: break
        """

    @Test("watches and subscriptions end with their process, even if another one holds the connection")
    func heirs() async throws {
        try await withTestBed { bed in
            try await ServerBed.runSignedIn { server in
                let subscription: [UInt8] = Subscribe.requestLine(id: 2, .init([.account]))
                let lines = [
                    try WatchToken.requestText(.of("mail")), String(decoding: subscription.dropLast(), as: UTF8.self),
                ]
                let heir = try bed.start(
                    Launch("/usr/bin/python3", ["-c", Self.inheriting, server.path] + lines), as: "heir")
                try await eventually("the child has ended") { heir.outputText.contains("alone\n") }
                try await server.signIn("bob", to: "mail")
                server.clock.advance(bySeconds: 3_350)
                try await eventually("the watch has ended") { heir.outputText.contains("tokenEnded") }
                #expect(heir.outputText.contains("/test has ended;"), "\(heir.outputText)")
                for told in ["at-", AccountEvent.name] {
                    #expect(!heir.outputText.contains(told), "\(heir.outputText)")
                }
            }
        }
    }

    @Test("a watch ends when the account is signed out, removed or erased", arguments: ["signOut", "remove", "forget"])
    func accountGone(how: String) async throws {
        try await ServerBed.runSignedIn { server in
            let client = try await server.connect()
            _ = try await watch(server, client)
            let person = try await server.connect()
            switch how {
            case "signOut":
                var params = SignOutAccount.Params(.username("ann"))
                params.selection = AppSelection(.registered("mail"))
                _ = try await person.call(SignOutAccount.self, params)
            case "remove":
                _ = try await person.call(RemoveAccount.self, .init(.username("ann"), from: .registered("mail")))
            default: _ = try await person.call(ForgetAccount.self, .init(.username("ann")))
            }
            let ended = try await client.readEvent(TokenEnded.self)
            #expect(ended.watch == "w1" && ended.error.code == RPCError.brokerErrorCode)
            #expect([.interactionRequired, .accountNotFound].contains(ended.error.data?.kind), "\(ended)")
            #expect(try await !client.call(UnwatchToken.self, .init(watch: "w1")).unwatched)
        }
    }

    @Test("a watch ends when the broker is locked, and when its app is gone")
    func lockedOrUnregistered() async throws {
        try await ServerBed.runSignedIn { server in
            let client = try await server.connect()
            _ = try await watch(server, client)
            await server.broker.lock.lock(because: "of a test")
            #expect(try await client.readEvent(TokenEnded.self).error.data?.kind == .locked)
            _ = try await server.connect().call(UnlockBroker.self, .init())
            #expect(try await watch(server, client).watch == "w2")
            _ = try await server.connect().call(RemoveApp.self, .init(name: "mail"))
            #expect(try await client.readEvent(TokenEnded.self).error.data?.kind == .appNotFound)
        }
    }

    @Test("a watch ends when its grant is revoked or expires, without a new question")
    func grantGone() async throws {
        for lifetime in [nil, 600] as [Int64?] {
            let inspector = PlainInspector()
            try await ServerBed.run(inspector: inspector) { server in
                try await server.register("mail")
                try await server.signIn("ann", to: "mail")
                inspector.enter("org.example.Game")
                let client = try await server.connect()
                let refusal = try await client.refusal(of: WatchToken.self, .of("mail"))
                let request = try #require(refusal?.data?.grantRequest)
                inspector.enter(nil)
                var approval = ApproveGrant.Params()
                approval.request = request
                approval.lifetime = lifetime
                let grant = try await server.connect().call(ApproveGrant.self, approval).grant
                _ = try await watch(server, client)
                if lifetime == nil {
                    _ = try await server.connect().call(RevokeGrant.self, .init(id: grant.id))
                } else {
                    try await settle(server)
                    server.clock.advance(bySeconds: 601)
                }
                let ended = try await client.readEvent(TokenEnded.self)
                #expect(ended.error.data?.kind == .accessDenied)
                #expect(try await server.connect().call(ListGrants.self, .init()).requests.isEmpty)
            }
        }
    }

    @Test("a watch ends with the reason when the refresh token is refused, although the token is still good")
    func refused() async throws {
        try await ServerBed.runSignedIn { server in
            let client = try await server.connect()
            _ = try await watch(server, client)
            server.provider.whenRedeeming { _ throws(ProviderError) in
                throw .refused(OAuthRefusal(error: "invalid_grant", status: 400))
            }
            var forced = AcquireTokenSilent.Params.of("mail")
            forced.forceRefresh = true
            _ = try await server.connect().refusal(of: AcquireTokenSilent.self, forced)
            let ended = try await client.readEvent(TokenEnded.self)
            #expect(ended.error.data?.reason == .refreshTokenRevoked)
        }
    }

    @Test("an unreachable provider is retried, and the watch ends only once the token has expired")
    func away() async throws {
        try await ServerBed.runSignedIn { server in
            let client = try await server.connect()
            _ = try await watch(server, client)
            try await settle(server)
            let isAway: @Sendable (TokenGrant) async throws(ProviderError) -> TokenResponse = {
                _ throws(ProviderError) in throw .offline("away")
            }
            server.provider.whenRedeeming(isAway)
            server.clock.advance(bySeconds: 3_302)
            try await passTime(server, by: 1) { server.provider.refreshes.count >= 3 }
            server.provider.whenRedeeming(nil)
            let told = Tally()
            async let changed = client.readEvent(TokenChanged.self, told)
            try await passTime(server, by: 1) { told.count == 1 }
            #expect(try await changed.token.accessToken == "at-2")
            server.provider.whenRedeeming(isAway)
            let over = Tally()
            async let ended = client.readEvent(TokenEnded.self, over)
            try await passTime(server, by: 50) { over.count == 1 }
            // The clock may advance during a refresh, which is late then.
            let kind = try await ended.error.data?.kind
            #expect(kind == .offline || kind == .timedOut, "\(String(describing: kind))")
        }
    }

    /// Advances the clock until the condition holds.
    private func passTime(_ server: ServerBed, by seconds: Int64, until isDone: @Sendable () -> Bool) async throws {
        try await eventually("it has happened") {
            if isDone() { return true }
            server.clock.advance(bySeconds: seconds)
            return false
        }
    }

    @Test("a watch stays with the account of its first token, whichever others sign in")
    func account() async throws {
        try await ServerBed.runSignedIn { server in
            let client = try await server.connect()
            _ = try await watch(server, client)
            try await server.signIn("bob", to: "mail")
            try await settle(server)
            server.clock.advance(bySeconds: 3_350)
            #expect(try await client.readEvent(TokenChanged.self).token.account.username == "ann")
        }
    }

    @Test("in a batch the first event follows the answer, and the audit log names renewals by the watch")
    func batchAndAudit() async throws {
        try await ServerBed.runSignedIn { server in
            let client = try await server.connect()
            let line = try WatchToken.requestText(.of("mail"))
            try await client.sendLine("[\(line)]")
            guard case .array(let answers) = try await client.readJSON() else {
                Issue.record("a batch is answered with something else")
                return
            }
            #expect(answers.count == 1)
            try await settle(server)
            server.clock.advance(bySeconds: 3_350)
            _ = try await client.readEvent(TokenChanged.self)
            let entries = try await server.connect().call(ListAudit.self, .init()).entries
            #expect(entries.contains { $0.method == WatchToken.name && $0.outcome == "issued" && $0.app == "mail" })
        }
    }
}

extension BrokerMethod {
    /// Without the line's end.
    fileprivate static func requestText(_ params: Params) throws -> String {
        let bytes: [UInt8] = requestLine(id: 1, params)
        return String(decoding: bytes.dropLast(), as: UTF8.self)
    }
}

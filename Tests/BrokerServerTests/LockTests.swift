import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerTestSupport
import BrokerValues
import Glibc
import Testing

@Suite("Locking and unlocking")
struct LockTests {
    private func silent(_ server: ServerBed) async throws -> Token {
        try await server.connect().call(AcquireTokenSilent.self, .of("mail"))
    }

    @Test("a locked broker answers locked with the way to unlock, and has everything back afterwards")
    func lockAndUnlock() async throws {
        try await ServerBed.runSignedIn { server in
            let client = try await server.connect()
            #expect(try await client.call(LockBroker.self, .init()).locked)
            #expect(server.vault.isLocked)
            #expect(try await client.call(GetBrokerStatus.self, .init()).locked)
            let error = try #require(await client.refusal(of: AcquireTokenSilent.self, .of("mail")))
            #expect(error.data?.kind == .locked && error.message.contains("brokerctl unlock"))
            #expect(error.data?.retryable == false)
            #expect(try await !client.call(UnlockBroker.self, .init()).locked)
            #expect(try await silent(server).accessToken == "at-1")
            #expect(try await !client.call(GetBrokerStatus.self, .init()).locked)
        }
    }

    @Test(
        "methods that need a key are locked, and no others", arguments: MethodRegistry.methods.map { $0.name as String }
    )
    func methods(name: String) async throws {
        try await ServerBed.runSignedIn { server in
            await server.broker.lock.lock(because: "of a test")
            let method = try #require(MethodRegistry.methods.first { $0.name == name })
            var writer = JSONWriter()
            let params = BrokerTestSupport.requiredParams[name] ?? [:]
            writer.value(.object(["jsonrpc": "2.0", "id": 1, "method": .string(name), "params": .object(params)]))
            let client = try await server.connect()
            try await client.sendLine(String(decoding: writer.bytes, as: UTF8.self))
            let kind = try await client.readRefusal()?.data?.kind
            #expect((kind == .locked) == !method.worksLocked, "\(String(describing: kind))")
        }
    }

    @Test("a refresh in progress is finished and its token stored before the keys go")
    func refreshUnderWay() async throws {
        try await ServerBed.runSignedIn { server in
            let asking = try await server.holdRefresh()
            let locking = try await server.connect()
            try await locking.send(LockBroker.requestLine(id: 1, .init()))
            // New requests are refused at once; the key stays as long as the refresh needs it.
            try await eventually("the gate is shut") {
                try await server.connect().refusal(of: AcquireTokenSilent.self, .of("mail"))?.data?.kind == .locked
            }
            #expect(!server.vault.isLocked)
            server.provider.refreshGate.open()
            #expect(try await Token(reading: asking.readResult()).accessToken == "at-2")
            #expect(try await LockState(reading: locking.readResult()).locked)
            _ = try await server.connect().call(UnlockBroker.self, .init())
            #expect(try await silent(server).accessToken == "at-2")
        }
    }

    @Test("a refresh is finished even if its caller has gone")
    func callerGone() async throws {
        try await ServerBed.runSignedIn { server in
            let asking = try await server.holdRefresh()
            await asking.close()
            async let locked: Void = server.broker.lock.lock(because: "of a test")
            server.provider.refreshGate.open()
            await locked
            _ = try await server.connect().call(UnlockBroker.self, .init())
            #expect(try await silent(server).accessToken == "at-2")
        }
    }

    @Test("a lock ends a sign-in that waits for a person, and refuses new ones")
    func signInWaiting() async throws {
        try await ServerBed.run { server in
            try await server.register("mail")
            let client = try await server.connect()
            try await client.send(
                AcquireTokenInteractive.requestLine(id: 1, .init(.registered("mail"), scopes: ["read"])))
            _ = try await client.readOpening()
            await server.broker.lock.lock(because: "of a test")
            #expect(try await client.readRefusal()?.data?.kind == .locked)
            let refused = try await client.refusal(
                of: AcquireTokenInteractive.self, .init(.registered("mail"), scopes: ["read"]))
            #expect(refused?.data?.kind == .locked)
            _ = try await server.connect().call(UnlockBroker.self, .init())
            try await server.signIn("ann", to: "mail")
        }
    }

    @Test("a record that the disk refused is sealed in memory while locked, and written afterwards")
    func unwritten() async throws {
        try await ServerBed.runSignedIn { server in
            server.vault.failWriting(.full("full"))
            var slow = AcquireTokenSilent.Params.of("mail")
            slow.forceRefresh = true
            let token = try await server.connect().call(AcquireTokenSilent.self, slow)
            #expect(token.accessToken == "at-2" && !token.persisted)
            await server.broker.lock.lock(because: "of a test")
            server.vault.failWriting(nil)
            _ = try await server.connect().call(UnlockBroker.self, .init())
            #expect(try await silent(server).accessToken == "at-2")
            try await eventually("a retry is due") { server.clock.sleepers > 0 }
            server.clock.advance(bySeconds: 5)
            try await eventually("it is written") { try await silent(server).persisted }
        }
    }

    @Test("an app that is read while the keys go is not in memory afterwards")
    func readMeanwhile() async throws {
        try await ServerBed.runSignedIn { server in
            server.readAppBeforeNextLock()
            await server.broker.lock.lock(because: "of a test")
            #expect(server.errorOfApp()?.kind == .locked)
        }
    }

    @Test("the broker locks itself after idle time, also if the machine slept over its timer")
    func idle() async throws {
        try await ServerBed.runSignedIn { server in
            var settings = EngineSettings()
            settings.lockAfterIdle = 600
            server.broker.apply(settings)
            #expect(try await silent(server).accessToken == "at-1")
            server.clock.advance(bySeconds: 599)
            #expect(try await silent(server).accessToken == "at-1")
            server.clock.advance(bySeconds: 600)
            let client = try await server.connect()
            #expect(try await client.refusal(of: AcquireTokenSilent.self, .of("mail"))?.data?.kind == .locked)
            try await eventually("the keys are gone") { server.vault.isLocked }
            _ = try await client.call(UnlockBroker.self, .init())
            #expect(try await silent(server).accessToken == "at-1")
        }
    }

    @Test("reading the status does not count as use, but an open request does")
    func idleRule() async throws {
        try await ServerBed.runSignedIn { server in
            var settings = EngineSettings()
            settings.lockAfterIdle = 600
            server.broker.apply(settings)
            #expect(try await silent(server).accessToken == "at-1")
            let asking = try await server.holdRefresh()
            server.clock.advance(bySeconds: 601)
            server.broker.lock.lockIfIdle()
            #expect(!server.vault.isLocked)
            server.provider.refreshGate.open()
            try await eventually("the refresh is over") { server.broker.refreshesInFlight == 0 }
            await asking.close()
            _ = try await server.connect().call(GetBrokerStatus.self, .init())
            server.clock.advance(bySeconds: 1)
            server.broker.lock.lockIfIdle()
            try await eventually("the keys are gone") { server.vault.isLocked }
        }
    }
}

@Suite("Guessing a passphrase")
struct GuessingTests {
    private static let right = "correct horse battery staple"

    @Test("a wrong passphrase is refused, and the next attempt waits without delaying others")
    func wrong() async throws {
        try await ServerBed.runSignedIn { server in
            let client = try await server.connect()
            _ = try await client.call(SetKeySource.self, .init(source: "passphrase", passphrase: Self.right))
            _ = try await client.call(LockBroker.self, .init())
            let wrong = UnlockBroker.Params(passphrase: "incorrect horse")
            let error = try #require(await client.refusal(of: UnlockBroker.self, wrong))
            #expect(error.data?.kind == .accessDenied && error.data?.reason == .wrongPassphrase)
            let none = try #require(await client.refusal(of: UnlockBroker.self, .init()))
            #expect(none.data?.kind == .locked && none.message.contains("brokerctl unlock"))
            try await client.send(UnlockBroker.requestLine(id: 1, .init(passphrase: Self.right)))
            try await eventually("it waits") { server.clock.sleepers > 0 }
            #expect(try await server.connect().call(GetBrokerStatus.self, .init()).locked)
            server.clock.advance(bySeconds: 1)
            #expect(try await LockState(reading: client.readResult()).locked == false)
            #expect(
                try await client.call(AcquireTokenSilent.self, .of("mail")).accessToken == "at-1")
        }
    }

    @Test("an unknown key source and a short passphrase are faults of the request, not of the broker")
    func unsuitable() async throws {
        try await ServerBed.runSignedIn { server in
            let client = try await server.connect()
            let wrong: [(SetKeySource.Params, String)] = [
                (.init(source: "nope", passphrase: nil), "vault.key_source"),
                (.init(source: "passphrase", passphrase: "short"), "characters"),
            ]
            for (params, part) in wrong {
                let refusal = try #require(await client.refusal(of: SetKeySource.self, params))
                #expect(refusal.data?.kind == .invalidParameter && refusal.message.contains(part), "\(refusal)")
            }
        }
    }

    @Test("a lock during a waiting passphrase attempt stays: the attempt no longer unlocks")
    func lockedMeanwhile() async throws {
        try await ServerBed.runSignedIn { server in
            let client = try await server.connect()
            _ = try await client.call(SetKeySource.self, .init(source: "passphrase", passphrase: Self.right))
            _ = try await client.call(LockBroker.self, .init())
            _ = try await client.refusal(of: UnlockBroker.self, .init(passphrase: "incorrect horse"))
            try await client.send(UnlockBroker.requestLine(id: 1, .init(passphrase: Self.right)))
            try await eventually("it waits") { server.clock.sleepers > 0 }
            #expect(try await server.connect().call(LockBroker.self, .init()).locked)
            server.readAppBeforeNextLock()
            server.clock.advance(bySeconds: 1)
            #expect(try await client.readRefusal()?.data?.kind == .locked)
            #expect(server.vault.isLocked && server.errorOfApp()?.kind == .locked)
            #expect(try await client.refusal(of: AcquireTokenSilent.self, .of("mail"))?.data?.kind == .locked)
        }
    }

    @Test("a passphrase attempt that waits is answered when the broker stops")
    func stopped() async throws {
        try await ServerBed.runSignedIn { server in
            let client = try await server.connect()
            _ = try await client.call(SetKeySource.self, .init(source: "passphrase", passphrase: Self.right))
            _ = try await client.call(LockBroker.self, .init())
            _ = try await client.refusal(of: UnlockBroker.self, .init(passphrase: "incorrect horse"))
            try await client.send(UnlockBroker.requestLine(id: 1, .init(passphrase: Self.right)))
            try await eventually("it waits") { server.clock.sleepers > 0 }
            server.broker.stop.begin()
            #expect(try await client.readRefusal()?.data?.reason == .shuttingDown)
            #expect(server.vault.isLocked)
        }
    }

    @Test("pauses double up to a minute, for the guessing caller only")
    func pauses() {
        var attempts = UnlockAttempts()
        var now = Duration.zero
        var pauses: [Duration] = []
        for _ in 0..<9 {
            let pause = attempts.begin("/usr/bin/guesser", at: now) ?? .zero
            pauses.append(pause)
            now += pause
        }
        #expect(pauses.map(\.components.seconds) == [0, 1, 2, 4, 8, 16, 32, 60, 60])
        #expect(attempts.begin("/usr/bin/brokerctl", at: now) == .zero)
    }

    @Test("simultaneous attempts wait for one another, and too many are refused")
    func together() {
        var attempts = UnlockAttempts()
        let pauses = (0..<8).map { _ in attempts.begin("a", at: .zero)?.components.seconds }
        #expect(pauses == [0, 1, 3, 7, 15, 31, nil, nil])
    }

    @Test("a caller with many names does not avoid the pause")
    func crowd() {
        var attempts = UnlockAttempts()
        for number in 0..<200 { _ = attempts.begin("caller-\(number)", at: .zero) }
        #expect(attempts.begin("another", at: .zero) != .zero)
        attempts.succeeded()
        #expect(attempts.begin("another", at: .zero) == .zero)
    }
}

extension ServerBed {
    private static let partition = Partition(uid: getuid())

    /// The registration of `mail` is read at the last moment at which it can be.
    fileprivate func readAppBeforeNextLock() {
        vault.beforeNextLock { [apps] in _ = try? apps.registered("mail", in: Self.partition) }
    }

    /// The error of reading the registration of `mail`; `nil` if it is found.
    fileprivate func errorOfApp() -> BrokerError? {
        do throws(BrokerError) {
            _ = try apps.registered("mail", in: Self.partition)
            return nil
        } catch { return error }
    }
}

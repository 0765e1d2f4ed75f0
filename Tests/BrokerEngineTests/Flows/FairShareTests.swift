import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("One app with many accounts, and its neighbours")
struct FairShareTests {
    private static let neighbour = Sample.app("neighbour")

    /// - Returns: the account ids.
    private func signIn(_ count: Int, to app: AppRegistration, _ bed: EngineBed) async throws -> [String] {
        var ids: [String] = []
        for number in 0..<count { ids.append(try await bed.signIn("user\(number)", app).account.id) }
        return ids
    }

    @Test("an app whose servers reject all its tokens uses up only its own forced refreshes")
    func rejected() async throws {
        let bed = try await EngineBed()
        let own = try await bed.signIn("alice", Self.neighbour)
        let ids = try await signIn(220, to: Sample.app(), bed)
        var forced = 0
        for id in ids {
            let token = try await bed.engine.acquireSilent(bed.silent { $0.query.account = .id(id) })
            let text = try bed.text(token)
            let answer = try await bed.engine.acquireSilent(
                bed.silent {
                    $0.query.account = .id(id)
                    $0.rejectedToken = Secret(text)
                })
            if !answer.rejected { forced += 1 }
        }
        #expect(forced == 205 && bed.provider.refreshes.count == 205)
        let text = try bed.text(own)
        let answer = try await bed.engine.acquireSilent(bed.silent(Self.neighbour) { $0.rejectedToken = Secret(text) })
        #expect(!answer.rejected)
    }

    @Test("an app whose refreshes hang is refused more of them, while its neighbour's go on")
    func refreshes() async throws {
        let bed = try await EngineBed()
        try await bed.signIn("alice", Self.neighbour)
        let ids = try await signIn(430, to: Sample.app(), bed)
        let gate = bed.holdTokens()
        let outcomes = try await withThrowingTaskGroup(of: ErrorKind?.self) { group in
            for id in ids {
                group.addTask {
                    do throws(BrokerError) {
                        _ = try await bed.engine.acquireSilent(
                            bed.silent {
                                $0.query.account = .id(id)
                                $0.forceRefresh = true
                            })
                        return nil
                    } catch {
                        return error.kind
                    }
                }
            }
            try await bed.provider.waitForRefreshes(410)
            async let other = bed.engine.acquireSilent(bed.silent(Self.neighbour) { $0.forceRefresh = true })
            try await bed.provider.waitForRefreshes(411)
            gate.open()
            _ = try? await other
            return try await group.reduce(into: [ErrorKind?]()) { $0.append($1) }
        }
        #expect(outcomes.count { $0 == .throttled } == 20 && outcomes.count { $0 == nil } == 410)
    }

    @Test("a provider that keeps naming new people fills only its app, and existing sign-ins survive")
    func people() async throws {
        let bed = try await EngineBed()
        try await bed.signIn("alice", Self.neighbour)
        try await bed.signIn("first")
        let large = String(repeating: "x", count: 900_000)
        bed.provider.say { $0["filler"] = .string(large) }
        var refusal: BrokerError?
        for number in 0..<60 where refusal == nil {
            do { _ = try await bed.signIn("user\(number)") } catch { refusal = error as? BrokerError }
        }
        #expect(refusal?.kind == .throttled)
        // The provider's tokens are revoked there.
        #expect(!bed.provider.revoked.isEmpty)
        for app in [Sample.app(), Self.neighbour] {
            let accounts = try bed.engine.accounts(of: app, includeSignedOut: false, in: Sample.partition)
            let known = try #require(accounts.first)
            _ = try await bed.engine.acquireSilent(
                bed.silent(app) {
                    $0.query.account = .id(known.id)
                    $0.forceRefresh = true
                })
        }
        // A known account signs in as before.
        bed.provider.say { _ in }
        try await bed.signIn("first")
    }

    @Test("unnamed sandboxes together get half of a person's sign-ins and half of the subscriptions")
    func unnamed() async throws {
        let bed = try await EngineBed()
        var settings = EngineSettings()
        settings.openInteractions = 4
        bed.engine.apply(settings)
        func refusal(_ number: Int, _ claimant: QuotaOwner) -> (Task<AcquiredToken, any Error>, Promise<ErrorKind?>) {
            let (browser, refusal) = (Browser(), Promise<ErrorKind?>())
            let request = bed.interactive {
                $0.loginHint = "person-\(number)"
                $0.claimant = claimant
            }
            let task = Task {
                do throws(BrokerError) {
                    return try await bed.engine.acquireInteractive(request) {
                        browser.opened($0)
                        refusal.fulfil(nil)
                    }
                } catch {
                    refusal.fulfil(error.kind)
                    throw error
                }
            }
            return (task, refusal)
        }
        var waiting: [Task<AcquiredToken, any Error>] = []
        var kinds: [ErrorKind?] = []
        let claimants: [QuotaOwner] = (0..<4).map { .unnamedSandbox(unit: "\($0)") } + [.process(pid: 1)]
        for (number, claimant) in claimants.enumerated() {
            let (task, outcome) = refusal(number, claimant)
            waiting.append(task)
            kinds.append(await outcome.value)
        }
        #expect(kinds == [nil, nil, .throttled, .throttled, nil])
        for task in waiting { task.cancel() }
        for task in waiting { _ = await task.result }

        var subscriptions: [Subscription] = []
        func subscribe(_ claimant: QuotaOwner) throws {
            subscriptions.append(
                try bed.engine.subscribe(to: [.account], group: nil, of: claimant, in: Sample.partition) { _ in })
        }
        for number in 0..<64 { try subscribe(.unnamedSandbox(unit: "\(number)")) }
        #expect(throws: BrokerError.self) { try subscribe(.unnamedSandbox(unit: "another")) }
        #expect(throws: BrokerError.self) { try subscribe(.unidentified) }
        try subscribe(.sandbox("org.example.Game"))
    }

    @Test("sandboxes together get half of an app's sign-ins, and a program outside of them still gets one")
    func placesOfApp() async throws {
        let bed = try await EngineBed()
        var settings = EngineSettings()
        settings.openInteractionsEach = 4
        bed.engine.apply(settings)
        var waiting: [Task<AcquiredToken, any Error>] = []
        var opened: [Bool] = []
        for number in 0..<4 {
            let isOutside = number == 3
            let (browser, signIn) = bed.begin(
                bed.interactive {
                    $0.claimant = isOutside ? .process(pid: 1) : .sandbox("box-\(number)")
                    $0.isOutside = isOutside
                    $0.loginHint = "person-\(number)"
                })
            waiting.append(signIn)
            let opening = try? await browser.opening()
            opened.append(opening != nil)
        }
        #expect(opened == [true, true, false, true])
        for task in waiting { task.cancel() }
        for task in waiting { _ = await task.result }
    }

    @Test("users with waiting sign-ins leave fewer to others, but at least one")
    func interactions() async throws {
        let bed = try await EngineBed()
        var settings = EngineSettings()
        settings.openInteractions = 4
        bed.engine.apply(settings)
        var waiting: [Task<AcquiredToken, any Error>] = []
        var counts: [Int] = []
        for user in 1...5 {
            var count = 0
            while count < 10 {
                let (browser, signIn) = bed.begin(
                    bed.interactive {
                        $0.partition = Partition(uid: UInt32(user))
                        $0.claimant = .process(pid: 1)
                        $0.loginHint = "person-\(count)"
                    })
                waiting.append(signIn)
                do {
                    _ = try await browser.opening()
                } catch {
                    #expect((error as? BrokerError)?.kind == .throttled)
                    break
                }
                count += 1
            }
            counts.append(count)
        }
        #expect(counts == [4, 4, 2, 1, 1])
        for task in waiting { task.cancel() }
        for task in waiting { _ = await task.result }
        #expect(bed.engine.interactionsOpen == 0)
    }
}

import BrokerAccess
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Synchronization
import Testing

@Suite("Owners of uids")
struct PartitionOwnersTests {
    /// An account directory that answers when the test lets it.
    private final class Accounts: AccountNames {
        let gate = Gate(open: true)
        private let state = Mutex<(name: String?, fails: Bool, count: Int)>(("alice", false, 0))

        var count: Int { state.withLock { $0.count } }
        func set(_ name: String?, fails: Bool = false) { state.withLock { ($0.name, $0.fails) = (name, fails) } }

        func name(of uid: UInt32) async throws(AccountNamesUnavailable) -> String? {
            state.withLock { $0.count += 1 }
            await gate.wait()
            let (name, fails, _) = state.withLock { $0 }
            if fails { throw AccountNamesUnavailable(code: 5) }
            return name
        }
    }

    private struct Scene {
        let bed: AccessBed
        let accounts = Accounts()
        let owners: PartitionOwners

        var isCertain: Bool { owners.isCertain(of: Partition(uid: 1000), connectedAt: .zero) }

        init(payer: @escaping @Sendable (Partition) -> Partition = { $0 }) async throws {
            bed = try await AccessBed()
            owners = PartitionOwners(
                vault: bed.vault, accounts: accounts, clock: bed.clock, payer: payer, log: bed.log.logger)
        }

        /// - Parameter connectedAt: uptime; by default of a connection that was open from the start.
        func check(_ uid: UInt32 = 1000, connectedAt: Duration = .zero) async -> BrokerError? {
            do throws(BrokerError) {
                try await owners.check(Partition(uid: uid), connectedAt: connectedAt)
                return nil
            } catch {
                return error
            }
        }
    }

    @Test("each connection looks up the account that has its uid by then")
    func newConnection() async throws {
        let scene = try await Scene()
        #expect(await scene.check() == nil)
        try await scene.owners.bind(Partition(uid: 1000))
        // userdel alice, useradd mallory: with the same uid.
        scene.accounts.set("mallory")
        scene.bed.clock.advance(bySeconds: 1)
        let connectedAt = scene.bed.clock.uptime
        #expect(await scene.check(connectedAt: connectedAt)?.reason == .otherAccount)
        scene.accounts.set("alice")
        #expect(await scene.check(connectedAt: connectedAt) == nil)
        let count = scene.accounts.count
        #expect(await scene.check(connectedAt: connectedAt) == nil && scene.accounts.count == count)
    }

    @Test("a lookup that began before the records were erased is not kept")
    func erasedMeanwhile() async throws {
        let scene = try await Scene()
        scene.accounts.gate.close()
        async let earlier = scene.check()
        try await eventually("the look-up is under way") { scene.accounts.count == 1 }
        scene.owners.forget(Partition(uid: 1000))
        scene.accounts.gate.open()
        #expect(await earlier == nil)
        #expect(!scene.isCertain)
    }

    @Test("a lookup that began before a connection does not count for it")
    func earlierLookUp() async throws {
        let scene = try await Scene()
        try await scene.owners.bind(Partition(uid: 1000))
        scene.bed.clock.advance(bySeconds: 61)
        scene.accounts.gate.close()
        async let earlier = scene.check()
        try await eventually("the look-up is under way") { scene.accounts.count == 2 }
        scene.bed.clock.advance(bySeconds: 1)
        let connectedAt = scene.bed.clock.uptime
        async let later = scene.check(connectedAt: connectedAt)
        scene.accounts.gate.open()
        #expect(await earlier == nil)
        #expect(await later == nil)
        #expect(scene.accounts.count == 3)
    }

    @Test("an open connection looks it up once a minute, and an account with another name is refused")
    func otherAccount() async throws {
        let scene = try await Scene()
        #expect(await scene.check() == nil)
        try await scene.owners.bind(Partition(uid: 1000))
        scene.accounts.set("mallory")
        #expect(await scene.check() == nil && scene.accounts.count == 1)
        scene.bed.clock.advance(bySeconds: 61)
        #expect(!scene.isCertain)
        #expect(await scene.check()?.reason == .otherAccount)
        #expect(!scene.isCertain)
        scene.accounts.set("alice")
        #expect(await scene.check() == nil)
    }

    @Test("an account whose name is missing for a while is not taken for another")
    func missingName() async throws {
        let scene = try await Scene()
        try await scene.owners.bind(Partition(uid: 1000))
        scene.bed.clock.advance(bySeconds: 61)
        scene.accounts.set(nil)
        let error = try #require(await scene.check())
        #expect(error.kind == .serverUnavailable && !error.message.contains("remove"))
        scene.accounts.set("alice")
        #expect(await scene.check() == nil)
    }

    @Test(
        "an account's records are compared with the present account of the uid",
        arguments: [
            ("alice", .account("alice"), .present), ("alice", .account("mallory"), .otherAccount),
            ("alice", .nobody, .gone), ("alice", .unanswered, .unknown), (nil, .account("alice"), .unknown),
            (nil, .nobody, .unknown),
        ] as [(String?, PartitionOwnership.Holder, PartitionOwnership.State)])
    func ownership(account: String?, holder: PartitionOwnership.Holder, state: PartitionOwnership.State) {
        let ownership = PartitionOwnership(account: account, holder: holder)
        #expect(ownership.account == account && ownership.state == state)
    }

    @Test("a survey changes nothing: a uid without a name has none afterwards")
    func survey() async throws {
        let scene = try await Scene()
        let partition = Partition(uid: 1000)
        try await scene.owners.bind(partition)
        #expect(await scene.owners.survey([partition]).map(\.state) == [.present])
        scene.accounts.set("mallory")
        #expect(await scene.owners.survey([partition]) == [.init(account: "alice", holder: .account("mallory"))])
        scene.accounts.set(nil)
        #expect(await scene.owners.survey([partition]).map(\.state) == [.gone])
        let other = Partition(uid: 1001)
        #expect(await scene.check(1001) == nil)
        try await scene.owners.bind(other)
        scene.accounts.set("bob")
        #expect(await scene.owners.survey([other]) == [.init(account: nil, holder: .account("bob"))])
        #expect(try scene.bed.vault.load(PartitionOwnerRecord.self, bucket: [], in: other).first?.record.account == nil)
    }

    @Test("a survey asks an unresponsive directory only once")
    func surveyHangs() async throws {
        let scene = try await Scene()
        let partition = Partition(uid: 1000)
        try await scene.owners.bind(partition)
        scene.accounts.gate.close()
        let before = scene.accounts.count
        async let states = scene.owners.survey([partition, Partition(uid: 1001), Partition(uid: 1002)]).map(\.state)
        try await scene.bed.clock.waitForSleepers()
        scene.bed.clock.advance(bySeconds: 11)
        #expect(await states == [.unknown, .unknown, .unknown] && scene.accounts.count == before + 1)
        scene.accounts.gate.open()
    }

    @Test("a uid that had no name belongs to the first account that has it")
    func firstName() async throws {
        let scene = try await Scene()
        scene.accounts.set(nil)
        #expect(await scene.check() == nil)
        try await scene.owners.bind(Partition(uid: 1000))
        scene.bed.clock.advance(bySeconds: 61)
        scene.accounts.set("alice")
        #expect(await scene.check() == nil)
        scene.bed.clock.advance(bySeconds: 61)
        scene.accounts.set("mallory")
        #expect(await scene.check()?.reason == .otherAccount)
    }

    @Test("records without an owner's name have no owner")
    func ownerGone() async throws {
        let scene = try await Scene()
        let partition = Partition(uid: 1000)
        _ = try await scene.bed.directory.register(AccessBed.app(), in: partition)
        let error = try #require(await scene.check())
        #expect(error.kind == .accessDenied && error.message.contains("partitions remove 1000"))
    }

    @Test(
        "an unresponsive directory admits no one, reports an error, and gets one query for all waiters")
    func hangs() async throws {
        let scene = try await Scene()
        scene.accounts.gate.close()
        async let first = scene.check()
        async let second = scene.check()
        try await scene.bed.clock.waitForSleepers()
        scene.bed.clock.advance(bySeconds: 11)
        #expect(await first?.kind == .serverUnavailable)
        #expect(await second?.kind == .serverUnavailable)
        #expect(await scene.check()?.kind == .serverUnavailable && scene.accounts.count == 1)
        scene.accounts.gate.open()
        try await eventually("the answer came") { await scene.check() == nil }
        #expect(scene.accounts.count == 1)
    }

    @Test("a failing directory admits no one, not even callers admitted a minute before")
    func fails() async throws {
        let scene = try await Scene()
        #expect(await scene.check() == nil)
        scene.accounts.set(nil, fails: true)
        scene.bed.clock.advance(bySeconds: 61)
        #expect(await scene.check()?.kind == .serverUnavailable)
        #expect(!scene.isCertain)
    }

    @Test(
        "lookups that hang take only their slots, and an unbound partition is looked up before a write"
    )
    func places() async throws {
        let scene = try await Scene()
        scene.accounts.gate.close()
        let waiting = (0..<64).map { uid in Task { await scene.check(UInt32(uid)) } }
        try await eventually("all are asked about") { scene.accounts.count == 64 }
        #expect(await scene.check(9_999)?.kind == .serverUnavailable && scene.accounts.count == 64)
        scene.accounts.gate.open()
        for task in waiting { #expect(await task.value == nil) }
        try await scene.owners.bind(Partition(uid: 9_999))
        #expect(scene.accounts.count == 65)
        let record = try scene.bed.vault.load(PartitionOwnerRecord.self, bucket: [], in: Partition(uid: 9_999)).first
        #expect(record?.record.account == "alice")
    }

    @Test("trouble that every request meets is logged once a minute, with the number of omitted ones")
    func loggedOnce() async throws {
        let scene = try await Scene()
        try await scene.owners.bind(Partition(uid: 1000))
        scene.accounts.set("mallory")
        scene.bed.clock.advance(bySeconds: 61)
        func told() -> Int { scene.bed.log.lines.count { $0.contains("are another account's") } }
        for _ in 0..<5 { #expect(await scene.check()?.reason == .otherAccount) }
        #expect(told() == 1)
        scene.bed.clock.advance(bySeconds: 60)
        #expect(await scene.check()?.reason == .otherAccount)
        #expect(told() == 2 && scene.bed.log.values(of: "times_before") == ["4"])
    }

    @Test("lookups of a person's subordinate uids leave slots for other users")
    func subordinateUIDs() async throws {
        let scene = try await Scene { $0.uid >= 100_000 ? Partition(uid: 1000) : $0 }
        scene.accounts.gate.close()
        let refused = Watched(0)
        let waiting = (0..<64).map { number in
            Task { if await scene.check(100_000 + UInt32(number)) != nil { refused.withLock { $0 += 1 } } }
        }
        try await refused.until { $0 == 32 }
        async let other = scene.check(2_000)
        try await eventually("another user's account is asked about") { scene.accounts.count == 33 }
        scene.accounts.gate.open()
        #expect(await other == nil)
        for task in waiting { await task.value }
        #expect(refused.withLock { $0 } == 32)
    }

    @Test("a person's subordinate uids do not push out another user's account")
    func remembered() async throws {
        let scene = try await Scene { $0.uid >= 100_000 ? Partition(uid: 100_000) : $0 }
        #expect(await scene.check() == nil && scene.isCertain)
        for number in 0..<5_000 { _ = await scene.check(100_000 + UInt32(number)) }
        #expect(scene.isCertain)
    }
}

import BrokerModel
import BrokerTestSupport
import BrokerEngine
import BrokerValues
import Testing

@Suite("Separate write queues for each person")
struct OwnQueueTests {
    private static let other = Partition(uid: 4711)

    @Test("another person's change is written and answered while one person's is being written")
    func apart() async throws {
        let bed = try await EngineBed()
        let gate = Gate()
        bed.vault.hold(until: gate, of: Sample.partition)
        let slow = Task { try await bed.signIn("alice") }
        try await bed.vault.waitForHeld()
        #expect(try await bed.signIn("bob", bed.interactive { $0.partition = Self.other }).persisted)
        #expect(bed.vault.held == 1)
        gate.open()
        #expect(try await slow.value.persisted)
    }

    @Test("a change refused by the disk is kept for its person, and another's flush does not report all as written")
    func refused() async throws {
        let bed = try await EngineBed()
        bed.vault.failWriting(.full("The disk is full."))
        #expect(try await !bed.signIn("alice").persisted)
        bed.vault.failWriting(nil)
        #expect(try await bed.signIn("bob", bed.interactive { $0.partition = Self.other }).persisted)
        #expect(try bed.vault.statistics(of: Sample.partition).records.isEmpty)
        await bed.engine.drain()
        #expect(try bed.vault.statistics(of: Sample.partition).records[.refreshToken] == 1)
    }

    @Test("a change refused during another person's flush is retried too")
    func refusedMeanwhile() async throws {
        let bed = try await EngineBed()
        bed.vault.failWriting(.full("The disk is full."))
        #expect(try await !bed.signIn("alice").persisted)
        bed.vault.failWriting(nil)
        let gate = Gate()
        bed.vault.hold(until: gate, of: Sample.partition)
        try await eventually("it is tried again") {
            bed.clock.advance(bySeconds: 60)
            return bed.vault.held == 1
        }
        bed.vault.failWriting(.full("The disk is full."))
        #expect(try await !bed.signIn("bob", bed.interactive { $0.partition = Self.other }).persisted)
        bed.vault.failWriting(nil)
        gate.open()
        for partition in [Sample.partition, Self.other] {
            try await eventually("it is written") {
                bed.clock.advance(bySeconds: 60)
                return try bed.vault.statistics(of: partition).records[.refreshToken] == 1
            }
        }
    }

    @Test("erasing one person keeps another's changes that the disk has refused")
    func erased() async throws {
        let bed = try await EngineBed()
        try await bed.signIn("alice")
        try await bed.signIn("bob", bed.interactive { $0.partition = Self.other })
        bed.vault.failWriting(.full("The disk is full."))
        let forced = bed.silent { $0.forceRefresh = true }
        #expect(try await !bed.engine.acquireSilent(forced).persisted)
        let spent = bed.provider.refreshes
        bed.vault.failWriting(nil)
        try await bed.engine.partitions.erase(Self.other, from: bed.vault)
        _ = try await bed.engine.acquireSilent(forced)
        #expect(bed.provider.refreshes.count == spent.count + 1)
        #expect(Set(bed.provider.refreshes).count == bed.provider.refreshes.count, "no token is spent twice")
    }

    @Test("a change for a person who was erased meanwhile is dropped, and not tried again")
    func erasedMeanwhile() async throws {
        let bed = try await EngineBed()
        bed.vault.failWriting(.erased)
        #expect(try await !bed.signIn("alice").persisted)
        bed.vault.failWriting(nil)
        #expect(bed.engine.cached(bed.silent()) == nil)
        #expect(try bed.engine.accounts(of: nil, includeSignedOut: true, in: Sample.partition).isEmpty)
        await bed.engine.drain()
        #expect(try bed.vault.statistics(of: Sample.partition).records.isEmpty)
    }

    @Test("records put on disk from outside are found once a person has accepted the state")
    func accepted() async throws {
        let bed = try await EngineBed()
        try await bed.signIn("alice")
        bed.clock.advance(bySeconds: 7_200)
        let records = try bed.vault.loadAll(RefreshTokenRecord.self, in: Sample.partition)
        let accounts = try bed.vault.loadAll(AccountRecord.self, in: Sample.partition)
        // Simulates a person who replaces the file with another state.
        try await bed.vault.commit(VaultChange(in: Sample.partition, deletes: records.map(\.record.key)))
        try await bed.engine.partitions.acceptState(of: Sample.partition)
        await #expect(throws: BrokerError.self) { try await bed.engine.acquireSilent(bed.silent()) }
        var change = VaultChange(in: Sample.partition)
        change.puts = records.map(\.sealed) + accounts.map(\.sealed)
        try await bed.vault.commit(change)
        await #expect(throws: BrokerError.self, "it is remembered that there is none") {
            try await bed.engine.acquireSilent(bed.silent())
        }
        try await bed.engine.partitions.acceptState(of: Sample.partition)
        _ = try await bed.engine.acquireSilent(bed.silent())
    }
}

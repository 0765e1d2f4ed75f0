import BrokerAccess
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Listings of the audit log, and its shares")
struct AuditListingTests {
    private static func methods(in bed: AccessBed, _ uid: UInt32) throws -> [String] {
        try bed.vault.loadAll(AuditBlockRecord.self, in: Partition(uid: uid)).flatMap(\.record.entries).map(\.method)
    }

    @Test("a listing writes its own user's entries only, and those of others stay for the next write")
    func ownEntries() async throws {
        let scene = try await AuditScene()
        scene.note("apps.register", by: 2_000)
        scene.note("apps.remove")
        #expect(try await scene.list().entries.last?.method == "apps.remove")
        #expect(try !Self.methods(in: scene.bed, 2_000).contains("apps.register"))
        await scene.log.flush()
        #expect(try Self.methods(in: scene.bed, 2_000).contains("apps.register"))
    }

    @Test("a listing whose caller has gone is not read")
    func goneCaller() async throws {
        let scene = try await AuditScene()
        scene.note("apps.register")
        let gate = Gate()
        scene.bed.vault.hold(until: gate)
        let first = Task { try await scene.list() }
        try await scene.bed.vault.waitForHeld()
        let second = Task { try await scene.list() }
        second.cancel()
        gate.open()
        #expect(try await first.value.entries.last?.method == "apps.register")
        await #expect {
            try await second.value
        } throws: {
            ($0 as? BrokerError)?.kind == .userCanceled
        }
    }

    @Test("a counted entry is listed if it was counted until the time asked for, or later")
    func lasting() async throws {
        let scene = try await AuditScene()
        let began = scene.bed.clock.now
        scene.handOut()
        scene.bed.clock.advance(bySeconds: 2)
        scene.handOut()
        #expect(try await scene.list(since: began + 1).entries.map(\.count) == [2])
        #expect(try await scene.list(since: began + 3).entries.isEmpty)
        // An event that happened once did not last.
        scene.handOut()
        scene.bed.clock.advance(bySeconds: 2)
        #expect(try await scene.list(since: began + 3).entries.isEmpty)
    }

    @Test("the subordinate uids of one user leave another user's entries their room")
    func subordinateUIDs() async throws {
        let scene = try await AuditScene({ $0.waiting = 20 }, payer: { $0.uid >= 2_000 ? Partition(uid: 2_000) : $0 })
        scene.bed.vault.failWriting(.full("no space"))
        for uid: UInt32 in 2_000..<2_030 { scene.note("one of many", by: uid) }
        await scene.log.flush()
        scene.note("apps.register")
        await scene.log.flush()
        scene.bed.vault.failWriting(nil)
        #expect(try await scene.list().entries.map(\.method) == ["broker.start", "apps.register"])
    }
}

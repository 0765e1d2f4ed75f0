import BrokerAccess
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Rings of the audit log")
struct AuditRingTests {
    private static let partition = AccessBed.partition

    @Test("a caller's tokens and changes are recorded even after many refusals")
    func blinded() async throws {
        let scene = try await AuditScene()
        for number in 0..<100 { scene.note("token.acquireSilent", outcome: "accessDenied", app: "app-\(number)") }
        scene.handOut()
        scene.note("apps.register", app: "evil")
        let entries = try await scene.list().entries
        #expect(entries.contains { $0.outcome == "cached" && $0.app == "mail" && $0.scopes == ["read"] })
        #expect(entries.contains { $0.method == "apps.register" && $0.app == "evil" && $0.detail == nil })
    }

    @Test("all tokens and changes are recorded with method, app and account, while refusals are counted")
    func essentials() async throws {
        let scene = try await AuditScene()
        for number in 0..<100 {
            scene.handOut(UInt8(number), as: "app-\(number)")
            scene.note("apps.register", app: "app-\(number)")
            scene.note("apps.remove", outcome: "accessDenied", app: "app-\(number)")
        }
        let entries = try await scene.list().entries
        let all = Set((0..<100).map { "app-\($0)" })
        let tokens = entries.filter { $0.outcome == "cached" }
        #expect(Set(tokens.compactMap(\.app)) == all && tokens.allSatisfy { $0.account == "account-1" })
        #expect(Set(entries.filter { $0.method == "apps.register" }.compactMap(\.app)) == all)
        #expect(entries.count { $0.outcome == "accessDenied" } == 33)
    }

    @Test("refusals leave room for changes while nothing can be written")
    func unwritten() async throws {
        let scene = try await AuditScene()
        scene.bed.vault.failWriting(.full("the test"))
        for caller in 0..<100 {
            var facts = PeerFacts.outside
            facts.executable = "/tmp/copy-\(caller)"
            for app in 0..<30 {
                var event = AuditEvent(method: "token.acquireSilent", outcome: "accessDenied")
                event.app = "app-\(app)"
                scene.log.note(event, by: Caller(facts), nil)
            }
            await scene.log.flush()
            scene.bed.clock.advance(bySeconds: 60)
        }
        scene.note("apps.register", app: "mail")
        await scene.log.flush()
        scene.bed.vault.failWriting(nil)
        #expect(try await scene.list().entries.contains { $0.method == "apps.register" && $0.app == "mail" })
    }

    @Test("tokens and refusals displace no change, and the log says since when it is complete")
    func rings() async throws {
        let scene = try await AuditScene { $0.blocks = [.changes: 2, .tokens: 2, .refusals: 1] }
        scene.note("apps.register", app: "mail")
        let began = scene.bed.clock.now
        #expect(try await scene.list().completeSince == began)
        for round in 0..<20 {
            scene.bed.clock.advance(bySeconds: 60)
            for number in 0..<30 {
                scene.handOut(UInt8(number), as: "app-\(round)-\(number)")
                scene.note("token.acquireSilent", outcome: "accessDenied", app: "app-\(number)")
            }
            await scene.log.flush()
        }
        let log = try await scene.list()
        #expect(log.isIntact && log.entries.contains { $0.method == "apps.register" })
        #expect(log.entries.map(\.sequence) == log.entries.map(\.sequence).sorted())
        #expect((65...128).contains(log.entries.count { $0.outcome == "cached" }))
        #expect((1...64).contains(log.entries.count { $0.outcome == "accessDenied" }))
        let complete = try #require(log.completeSince)
        #expect(complete == log.entries.first { $0.outcome == "accessDenied" }?.time && complete > began)
        let whole = log.entries.drop { $0.time < complete }
        #expect(whole.count { $0.outcome == "cached" } >= whole.count { $0.outcome == "accessDenied" })
        // The next run continues each ring.
        let second = scene.bed.auditLog()
        second.note(AuditEvent(method: "apps.remove", outcome: "done"), by: scene.caller.caller, nil)
        let after = try await second.list(of: nil, since: nil, limit: 10_000, in: Self.partition)
        #expect(after.isIntact && after.entries.last?.method == "apps.remove")
        #expect(after.entries.map(\.sequence).last == (log.entries.last?.sequence ?? 0) + 2)
    }

    @Test("the removal of a whole ring is detected, even if it was done with the key")
    func ringTakenOut() async throws {
        let scene = try await AuditScene()
        scene.handOut()
        scene.note("apps.register")
        scene.note("token.acquireSilent", outcome: "accessDenied")
        #expect(try await scene.list().isIntact)
        let blocks = try scene.blocks()
        #expect(Set(blocks.map(\.ring)) == Set(AuditRing.allCases))
        for block in blocks {
            try await scene.change(deletes: [block.key])
            #expect(try await !scene.list().isIntact, "\(block.ring)")
            try await scene.change(puts: [block])
        }
        #expect(try await scene.list().isIntact)
    }

    @Test("the log of an earlier version is kept and continued")
    func earlierVersion() async throws {
        let scene = try await AuditScene()
        var entries: [AuditEntry] = []
        for sequence in 1...3 as ClosedRange<Int64> {
            var entry = AuditEntry(
                time: sequence, method: sequence == 2 ? "apps.register" : "token.acquireSilent",
                outcome: sequence == 2 ? "done" : "cached")
            entry.sequence = sequence
            entries.append(entry)
        }
        try await scene.put(EarlierBlock(entries: entries))
        try await scene.put(EarlierHead(sequence: 3))
        let before = try await scene.list()
        #expect(before.isIntact && before.entries == entries && before.completeSince == 1)
        scene.note("apps.remove")
        scene.handOut()
        let log = try await scene.list()
        #expect(log.isIntact && log.entries.prefix(3) == entries[...])
        #expect(
            log.entries.dropFirst(3).map(\.method) == ["broker.start", "apps.remove", "token.acquireSilent"])
        #expect(log.entries.map(\.sequence) == Array(1...6))
    }
}

/// A block in the format of the version before the rings.
private struct EarlierBlock: VaultRecord {
    static let kind = RecordKind.auditBlock
    var number: Int64 = 1
    var previous = [UInt8](repeating: 7, count: 32)
    var entries: [AuditEntry]
    var bucket: [String] { [] }
    var item: [String] { [String(number)] }
}

private struct EarlierHead: VaultRecord {
    static let kind = RecordKind.auditHead
    var firstBlock: Int64 = 1
    var lastBlock: Int64 = 1
    var sequence: Int64
    var value = [UInt8](repeating: 7, count: 32)
    var isComplete = true
    var run = "earlier"
    var bucket: [String] { [] }
    var item: [String] { [] }
}

extension AuditScene {
    fileprivate func put(_ record: some VaultRecord) async throws {
        let sealed = try bed.vault.seal(record, secret: nil, in: AccessBed.partition).sealed
        try await bed.vault.commit(VaultChange(in: AccessBed.partition, puts: [sealed], deletes: []))
    }
}

import BrokerAccess
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("The audit log is bounded, chained, and written outside requests")
struct AuditTests {
    private static let partition = AccessBed.partition
    private typealias Scene = AuditScene

    @Test("a returned token is recorded with caller, facts, app, account and scopes")
    func told() async throws {
        let scene = try await Scene()
        scene.handOut()
        let listing = try await scene.list()
        let (entries, isIntact) = (listing.entries, listing.isIntact)
        #expect(isIntact && entries.map(\.method) == ["broker.start", "token.acquireSilent"])
        let entry = try #require(entries.last)
        #expect(entry.caller == scene.caller.caller.identity && entry.facts?["rootMount"] == "same")
        #expect(entry.app == "mail" && entry.account == "account-1" && entry.scopes == ["read"])
        #expect(entry.outcome == "cached" && entry.count == 1 && entry.correlationID == "c-1")
        #expect(entry.sequence == 2 && entries.first?.caller == nil && entries.first?.reason == nil)
    }

    @Test("equal events are counted, also across connections, and other apps, tokens or outcomes get entries")
    func counted() async throws {
        let scene = try await Scene()
        for number in 1...5 { scene.handOut(id: "c-\(number)") }
        let other = AuditedCaller(scene.caller.caller)
        scene.log.cached([1], as: "mail", to: other, "c-6") {
            var event = AuditEvent(method: "token.acquireSilent", outcome: "cached")
            (event.app, event.account, event.scopes) = ("mail", "account-1", ["read"])
            return event
        }
        scene.handOut(as: "notes")
        scene.handOut(2, scopes: ["write"])
        scene.handOut()
        let entries = try await scene.list().entries.dropFirst()
        #expect(entries.map(\.count) == [7, 1, 1] && entries.map(\.app) == ["mail", "notes", "mail"])
        #expect(entries.first?.correlationID == "c-1")
        // After a write the next one starts again, also on the connection that counted before.
        scene.handOut()
        #expect(try await scene.list().entries.last?.count == 1)
    }

    @Test("brokerctl's actions for two programs are recorded separately, however close in time")
    func starters() async throws {
        let scene = try await Scene()
        for path in ["/opt/x", "/opt/y", "/opt/x"] { scene.note("apps.list", byFrontOf: path) }
        let entries = try await scene.list().entries.dropFirst()
        #expect(entries.map { $0.facts?["startedBy"] } == ["unknown /opt/x", "unknown /opt/y"])
        #expect(entries.map(\.count) == [2, 1])
    }

    @Test("a caller with ever new events fills the log with few entries")
    func flood() async throws {
        let scene = try await Scene()
        for number in 0..<1_000 { scene.note("token.acquireSilent", outcome: "accessDenied", app: "app-\(number)") }
        let entries = try await scene.list().entries.dropFirst()
        #expect(entries.count == 33 && entries.reduce(0) { $0 + $1.count } == 1_000)
        #expect(entries.last?.detail == "and others" && entries.last?.app == nil && entries.last?.count == 968)
    }

    @Test("a user's endless refusals fill their own log only, and another user's stay separate")
    func floodOfAnotherUser() async throws {
        let scene = try await Scene()
        func refuse(uid: UInt32, caller: Int, _ app: String) {
            var facts = PeerFacts.outside
            (facts.uid, facts.executable) = (uid, "/tmp/copy-\(caller)")
            var event = AuditEvent(method: "token.acquireSilent", outcome: "accessDenied")
            event.app = app
            scene.log.note(event, by: Caller(facts), "c-1")
        }
        for caller in 0..<2_000 {
            for app in 0..<2 { refuse(uid: 2_000, caller: caller, "app-\(app)") }
        }
        refuse(uid: 1_000, caller: 1, "mail")
        let theirs = try await scene.log.list(of: nil, since: nil, limit: 10_000, in: Partition(uid: 2_000)).entries
            .dropFirst()
        #expect(theirs.count <= 260 && theirs.reduce(0) { $0 + $1.count } == 4_000)
        let own = try await scene.list().entries
        #expect(own.last?.app == "mail" && own.last?.caller?.id == "/tmp/copy-1")
    }

    @Test("entries of one user lost for lack of a disk are reported in that user's log")
    func lostOfOneUser() async throws {
        let scene = try await Scene()
        scene.bed.vault.failWriting(.full("no space"))
        var facts = PeerFacts.outside
        for caller in 0..<70 {
            facts.executable = "/tmp/copy-\(caller)"
            for number in 0..<32 {
                var event = AuditEvent(method: "apps.register", outcome: "done")
                event.app = "app-\(number)"
                scene.log.note(event, by: Caller(facts), nil)
            }
        }
        await scene.log.flush()
        facts.uid = 2_000
        scene.log.note(AuditEvent(method: "apps.list", outcome: "done"), by: Caller(facts), nil)
        scene.bed.vault.failWriting(nil)
        let others = try await scene.log.list(of: nil, since: nil, limit: 10_000, in: Partition(uid: 2_000)).entries
        #expect(!others.contains { $0.method == "audit.lost" })
        #expect(try await scene.list().entries.contains { $0.method == "audit.lost" })
    }

    @Test("the log is bounded: the oldest entries go, and the rest is intact")
    func bounded() async throws {
        let scene = try await Scene { $0.blocks[.changes] = 3 }
        try await scene.fill(64 * 5)
        let listing = try await scene.list()
        let (entries, isIntact) = (listing.entries, listing.isIntact)
        #expect(isIntact && (64 * 2...64 * 3).contains(entries.count))
        #expect(entries.last.map { Int($0.sequence) } == 64 * 5 + 1)
        #expect(zip(entries, entries.dropFirst()).allSatisfy { $0.sequence + 1 == $1.sequence })
        #expect(try scene.blocks().count == 3)
    }

    @Test("every removal is detected, even if it was done with the key")
    func tampered() async throws {
        let scene = try await Scene()
        try await scene.fill(200)
        #expect(try await scene.list().isIntact)
        let blocks = try scene.blocks()
        #expect(blocks.count == 4)
        for block in blocks {
            try await scene.change(deletes: [block.key])
            #expect(try await !scene.list().isIntact, "block \(block.number) taken out")
            try await scene.change(puts: [block])
            #expect(try await scene.list().isIntact, "block \(block.number) back again")
        }
        for place in [0, 30, 63] {
            var block = blocks[1]
            block.entries.remove(at: place)
            try await scene.change(puts: [block])
            #expect(try await !scene.list().isIntact, "entry \(place) taken out")
        }
        try await scene.change(puts: [blocks[1]])
        // An older state of the newest block.
        var older = blocks[3]
        older.entries.removeLast()
        try await scene.change(puts: [older])
        #expect(try await !scene.list().isIntact)
    }

    @Test("the log records a stop, and the next start reports a kill and continues the log")
    func restarted() async throws {
        let scene = try await Scene()
        scene.handOut()
        await scene.log.stop()
        let second = scene.bed.auditLog()
        second.note(AuditEvent(method: "apps.register", outcome: "done"), by: scene.caller.caller, nil)
        // Killed: nothing was recorded.
        await second.flush()
        let third = scene.bed.auditLog()
        third.note(AuditEvent(method: "apps.remove", outcome: "done"), by: scene.caller.caller, nil)
        let listing = try await third.list(of: nil, since: nil, limit: 100, in: Self.partition)
        let (entries, isIntact) = (listing.entries, listing.isIntact)
        #expect(
            isIntact
                && entries.map(\.method) == [
                    "broker.start", "token.acquireSilent", "broker.stop", "broker.start", "apps.register",
                    "broker.start",
                    "apps.remove",
                ])
        #expect(entries.map(\.reason) == [nil, nil, nil, nil, nil, "interrupted", nil])
    }

    @Test("a kill before the first write is reported, too")
    func killedEarly() async throws {
        let scene = try await Scene()
        scene.handOut()
        await scene.log.stop()
        let second = scene.bed.auditLog()
        second.note(AuditEvent(method: "apps.register", outcome: "done"), by: scene.caller.caller, nil)
        try await eventually("it is on disk that something may be missing") {
            try scene.bed.vault.loadAll(AuditHeadRecord.self, in: Self.partition).first?.record.isComplete == false
        }
        let third = scene.bed.auditLog()
        third.note(AuditEvent(method: "apps.remove", outcome: "done"), by: scene.caller.caller, nil)
        let listing = try await third.list(of: nil, since: nil, limit: 100, in: Self.partition)
        let (entries, isIntact) = (listing.entries, listing.isIntact)
        #expect(isIntact && entries.suffix(2).map(\.method) == ["broker.start", "apps.remove"])
        #expect(entries.dropLast().last?.reason == "interrupted")
    }

    @Test("entries wait while the disk refuses or the keys are gone, and the excess is counted")
    func waiting() async throws {
        let scene = try await Scene()
        scene.bed.vault.failWriting(.full("the test"))
        scene.handOut()
        await scene.log.flush()
        scene.note("apps.register")
        await scene.log.flush()
        scene.bed.vault.failWriting(nil)
        #expect(
            try await scene.list().entries.map(\.method) == ["broker.start", "token.acquireSilent", "apps.register"])
        scene.bed.vault.lock()
        for _ in 0..<80 {
            for number in 0..<32 { scene.note("token.acquireSilent", outcome: "locked", app: "app-\(number)") }
            await scene.log.flush()
            scene.bed.clock.advance(bySeconds: 60)
        }
        await #expect { try await scene.list() } throws: { ($0 as? BrokerError)?.kind == .locked }
        try await scene.bed.vault.unlock(passphrase: nil)
        let listing = try await scene.list()
        let (entries, isIntact) = (listing.entries, listing.isIntact)
        #expect(isIntact && entries.last?.method == "audit.lost")
        let locked = entries.filter { $0.outcome == "locked" || $0.method == "audit.lost" }
        #expect(locked.count == 1_025 && locked.reduce(0) { $0 + Int($1.count) } == 80 * 32)
    }

    @Test("erasing a user during a write begins a new log, which is intact")
    func erased() async throws {
        let scene = try await Scene()
        scene.note("apps.register")
        await scene.log.flush()
        scene.note("apps.remove")
        let gate = Gate()
        scene.bed.vault.hold(until: gate)
        async let written: Void = scene.log.flush()
        try await scene.bed.vault.waitForHeld()
        // Runs as far as it can before the log is written.
        let erasing = Task.immediate {
            try await scene.log.erase(Self.partition) { () async throws(BrokerError) in
                do throws(VaultError) { try await scene.bed.vault.erase(Self.partition) } catch {
                    throw BrokerError(.internal, "\(error)")
                }
            }
        }
        gate.open()
        await written
        try await erasing.value
        scene.note("apps.list")
        let listing = try await scene.list()
        let (entries, isIntact) = (listing.entries, listing.isIntact)
        #expect(isIntact && entries.map(\.method) == ["broker.start", "apps.list"])
    }

    @Test("a log evicted from memory is continued at its end, and is complete whenever the broker ends")
    func letGo() async throws {
        let scene = try await Scene { $0.memory = 1 }
        for round in 0..<3 {
            for uid: UInt32 in [1_000, 2_000] { scene.note("round-\(round)", by: uid) }
            await scene.log.flush()
        }
        // Killed: nothing was recorded.
        let second = scene.bed.auditLog()
        for uid: UInt32 in [1_000, 2_000] {
            let partition = Partition(uid: uid)
            var facts = PeerFacts.outside
            facts.uid = uid
            second.note(AuditEvent(method: "after", outcome: "done"), by: Caller(facts), nil)
            let listing = try await second.list(of: nil, since: nil, limit: 100, in: partition)
            let (entries, isIntact) = (listing.entries, listing.isIntact)
            #expect(isIntact)
            #expect(
                entries.map(\.method) == ["broker.start", "round-0", "round-1", "round-2", "broker.start", "after"])
            #expect(entries.allSatisfy { $0.reason == nil })
        }
    }

    @Test("the number of waiting entries is bounded for all users, and those without room are counted")
    func manyUsers() async throws {
        let scene = try await Scene { $0.waiting = 20 }
        scene.bed.vault.failWriting(.full("no space"))
        for round in 0..<2 {
            for uid: UInt32 in 2_000..<2_030 { scene.note("round-\(round)", by: uid) }
            await scene.log.flush()
        }
        scene.bed.vault.failWriting(nil)
        await scene.log.flush()
        // Written entries have freed their slots.
        for uid: UInt32 in 2_000..<2_030 { scene.note("later", by: uid) }
        var told = 0
        for uid: UInt32 in 2_000..<2_030 {
            let listing = try await scene.log.list(of: nil, since: nil, limit: 100, in: Partition(uid: uid))
            let (entries, isIntact) = (listing.entries, listing.isIntact)
            #expect(isIntact)
            told += entries.count { $0.method.hasPrefix("round") }
            // Events without an entry are counted.
            #expect(entries.dropFirst().reduce(0) { $0 + $1.count } == 3)
        }
        #expect(told == 20)
    }

    @Test("the log is written by itself a few seconds later")
    func written() async throws {
        let scene = try await Scene()
        scene.handOut()
        try await scene.bed.clock.waitForSleepers()
        func methods() throws -> [String] { try scene.blocks().flatMap(\.entries).map(\.method) }
        try await eventually("that the broker runs is written at once") { try methods() == ["broker.start"] }
        scene.bed.clock.advance(bySeconds: 5)
        try await eventually("the log is written") { try methods() == ["broker.start", "token.acquireSilent"] }
    }

    @Test("the broker's start is recorded with its own time, not that of the first write")
    func startTime() async throws {
        let scene = try await Scene()
        let began = scene.bed.clock.now
        scene.bed.clock.advance(bySeconds: 60)
        scene.handOut()
        let entries = try await scene.list().entries
        #expect(entries.map(\.time) == [began, began + 60])
    }

    @Test("a listing can be limited to one app, to the newest entries, and to those since a time")
    func filtered() async throws {
        let scene = try await Scene()
        scene.handOut(as: "mail")
        scene.handOut(as: "notes")
        await scene.log.flush()
        scene.bed.clock.advance(bySeconds: 100)
        scene.handOut(as: "mail")
        #expect(try await scene.list(of: "mail").entries.count == 2)
        #expect(try await scene.list(of: "mail", limit: 1).entries.map(\.sequence) == [4])
        #expect(try await scene.list(since: scene.bed.clock.now - 50).entries.count == 1)
        #expect(try await scene.list(of: "other").entries.isEmpty)
    }

    @Test("refusals of many callers leave room for returned tokens")
    func manyCallers() async throws {
        let scene = try await Scene()
        for number in 0..<600 {
            let caller = try scene.bed.caller { $0.executable = "/home/alice/bin/copy-\(number)" }
            for app in 0..<5 {
                var event = AuditEvent(method: "token.acquireSilent", outcome: "accessDenied")
                event.app = "app-\(app)"
                scene.log.note(event, by: caller, nil)
            }
        }
        scene.handOut()
        let entries = try await scene.list().entries
        #expect(entries.count == 1 + 256 + 1 + 1 && entries.last?.outcome == "cached")
        let many = try #require(entries.first { $0.caller?.id == "many callers" })
        #expect(many.count == 600 * 5 - 256 && many.facts == nil)
    }

    @Test("endless scopes or names do not fill a row, and the rest of them is counted")
    func endless() async throws {
        let scene = try await Scene()
        scene.handOut(as: String(repeating: "a", count: 100_000), scopes: (0..<50_000).map { "scope-\($0)" })
        let entry = try #require(try await scene.list().entries.last)
        #expect(entry.scopes?.count == 32 && entry.detail == "and 49968 more scopes" && entry.app?.count == 512)
    }

    @Test("a long log is read page by page, newest first")
    func pages() async throws {
        let scene = try await Scene()
        for number in 0..<10 { scene.handOut(UInt8(number), as: "app-\(number)") }
        let newest = try await scene.log.list(of: nil, since: nil, limit: 4, in: Self.partition).entries
        #expect(newest.map(\.sequence) == [8, 9, 10, 11])
        let before = try await scene.log.list(of: nil, since: nil, before: 8, limit: 4, in: Self.partition).entries
        #expect(before.map(\.sequence) == [4, 5, 6, 7])
    }
}

import BrokerModel
import BrokerTestSupport
import BrokerTokenCache
import BrokerValues
import Testing

@Suite("Changes that come while the disk is busy")
struct SharedTransactionTests {
    private static let owner = TokenOwner(
        group: Sample.app().effectiveGroup, clientID: "client-1",
        homeAccountID: HomeAccountID(userID: "alice", tenantID: "home"), environment: "id.example.org")

    private let bed: CacheBed
    private let gate = Gate()
    private var key: OwnerKey { bed.key(Self.owner) }
    /// One access token each.
    private let rows: [CacheChange.Row]

    init() async throws {
        let bed = try await CacheBed()
        rows = try (0..<40).map { try bed.row(.accessToken(Self.owner, "home", ["scope-\($0)"]), isPut: true) }
        self.bed = bed
    }

    /// Adds a token. - Returns: the number of tokens when that was decided.
    private func add() async throws(VaultError) -> (answer: Int, isPersisted: Bool) {
        let (key, rows) = (key, rows)
        return try await bed.writer.writeTogether(in: Sample.partition) { draft throws(VaultError) in
            let count = try draft.loadTokens(of: key).accessTokens.count
            return (CacheChange(in: Sample.partition, [rows[count]]), count)
        }
    }

    /// Blocks the disk with one change until the body has sent all of its own.
    private func whileBusy<Answer: Sendable>(
        _ count: Int, _ write: @escaping @Sendable (_ number: Int) async throws -> Answer
    ) async throws -> [Answer] {
        bed.vault.hold(until: gate)
        return try await withThrowingTaskGroup(of: Answer?.self) { group in
            group.addTask {
                _ = try await add()
                return nil
            }
            try await bed.vault.waitForHeld()
            for number in 0..<count { group.addImmediateTask { try await write(number) } }
            gate.open()
            var answers: [Answer] = []
            for try await answer in group { if let answer { answers.append(answer) } }
            return answers
        }
    }

    @Test("share few transactions, each change based on the result of those before it")
    func together() async throws {
        let before = bed.vault.commits
        let answers = try await whileBusy(32) { _ in try await add() }
        #expect(answers.map(\.answer).sorted() == Array(1...32))
        #expect(!answers.map(\.isPersisted).contains(false))
        #expect(bed.vault.commits - before == 3, "the one that was there, and two of sixteen")
        #expect(try bed.contents(of: bed.index) == bed.contents(of: bed.reread()))
        #expect(try bed.index.loadTokens(of: key).accessTokens.count == 33)
    }

    @Test("are decided separately, so that a failing one changes nothing and affects no other")
    func failing() async throws {
        let answers: [Int?] = try await whileBusy(8) { number in
            if number % 2 == 0 { return try await add().answer }
            do throws(VaultError) {
                let _: (Int, Bool) = try await bed.writer.writeTogether(in: Sample.partition) { _ throws(VaultError) in
                    throw .recordDamaged
                }
                Issue.record("it was written")
            } catch {
                #expect(error == .recordDamaged)
            }
            return nil
        }
        #expect(answers.compactMap(\.self).sorted() == [1, 2, 3, 4])
        #expect(try bed.contents(of: bed.index) == bed.contents(of: bed.reread()))
    }

    @Test("get a transaction of their own if they read more than tokens and accounts, and see all earlier ones")
    func alone() async throws {
        let before = bed.vault.commits
        let (key, rows) = (key, rows)
        let counts: [Int] = try await whileBusy(5) { _ in
            try await bed.writer.write(in: Sample.partition) { index throws(VaultError) in
                let count = try index.loadTokens(of: key).accessTokens.count
                return (CacheChange(in: Sample.partition, [rows[count]]), count)
            }.answer
        }
        #expect(counts.sorted() == Array(1...5))
        #expect(bed.vault.commits - before == 6)
    }

    @Test("are not reported as persisted by a disk that refuses them, and are written when it accepts")
    func refused() async throws {
        let answers = try await whileBusy(8) { _ in
            bed.vault.failWriting(.full("no space"))
            return try await add()
        }
        #expect(answers.map(\.answer).sorted() == Array(1...8))
        #expect(!answers.map(\.isPersisted).contains(true))
        #expect(try bed.index.loadTokens(of: key).accessTokens.count == 9)
        bed.vault.failWriting(nil)
        #expect(await bed.writer.flush())
        #expect(try bed.contents(of: bed.index) == bed.contents(of: bed.reread()))
        #expect(try bed.reread().loadTokens(of: key).accessTokens.count == 9)
    }
}

import BrokerAccess
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Grants and a bad disk, and a bad clock")
struct GrantTroubleTests {
    private static let partition = AccessBed.partition

    private typealias Scene = GrantScene

    @Test("erasing an account voids all of its grants if the disk refuses, erases it, and one more try writes all")
    func erasedOnBadDisk() async throws {
        let scene = try await Scene()
        let grants = scene.bed.grants
        try await scene.bed.directory.register(AccessBed.app("notes"), in: Self.partition)
        var ids: [String] = []
        for (app, account) in [("mail", "ann"), ("notes", "ann"), ("notes", "bob")] {
            let terms = GrantStore.Terms(accountID: account)
            ids.append(
                try await grants.approve(scene.caller.identity, as: AccessBed.app(app), terms, in: Self.partition).id)
        }
        func isAdmitted(_ app: String, _ account: String) -> Bool {
            scene.refusal(.account(.id(account)), app: app) == nil
        }
        let before = scene.bed.vault.commits
        scene.bed.vault.failWriting(.io("disk full"))
        let erased = Promise<Void>()
        let error = await #expect(throws: BrokerError.self) {
            try await grants.revokeGrants(for: ["ann"], in: Self.partition) {
                erased.fulfil(())
                return ErasureReport()
            }
        }
        #expect(error?.reason == .vaultNotWritable)
        await erased.value
        #expect(scene.bed.vault.commits == before + 1)
        #expect(!isAdmitted("mail", "ann") && !isAdmitted("notes", "ann") && isAdmitted("notes", "bob"))
        scene.bed.vault.failWriting(nil)
        try await grants.revoke(ids[0], in: Self.partition)
        #expect(try await scene.bed.reopenedGrants().list(in: Self.partition).grants.map(\.id) == [ids[2]])
    }

    @Test("a use that is written while a person's records are erased leaves no grant behind")
    func erasedPartition() async throws {
        let scene = try await Scene()
        let (grants, vault) = (scene.bed.grants, scene.bed.vault)
        _ = try await scene.approve()
        #expect(scene.refusal() == nil)
        let writing = Promise<Task<Void, Never>>()
        try await grants.erase(Self.partition) { () async throws(BrokerError) in
            do throws(VaultError) { try await vault.erase(Self.partition) } catch {
                throw BrokerError(.internal, "\(error)")
            }
            writing.fulfil(Task.immediate { await grants.flush() })
        }
        await writing.value.value
        #expect(try await scene.bed.reopenedGrants().list(in: Self.partition).grants.isEmpty)
    }

    @Test("a request outlives a small step back of the clock, as a grant does, and not a large one")
    func clockSetBack() async throws {
        let scene = try await Scene()
        let request = try scene.request()
        for (seconds, left) in [(-1, [request]), (-299, [request]), (-1, [])] as [(Int64, [String])] {
            scene.bed.clock.setWallClock(bySeconds: seconds)
            #expect(try scene.bed.grants.list(in: Self.partition).requests.map(\.id) == left)
        }
    }
}

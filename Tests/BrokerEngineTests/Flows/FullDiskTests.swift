import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Tokens that the disk refuses")
struct FullDiskTests {
    @Test("a token is returned as not persisted while the disk is full, and written later")
    func diskFull() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        bed.clock.advance(bySeconds: 4000)
        bed.vault.failWriting(.full("no space"))
        let token = try await bed.engine.acquireSilent(bed.silent())
        #expect(!token.persisted)
        #expect(try bed.text(token) == "at-2")
        #expect(bed.engine.cached(bed.silent()) != nil, "memory has it")

        bed.vault.failWriting(nil)
        try await bed.clock.waitForSleepers()
        bed.clock.advance(bySeconds: 5)
        try await bed.clock.waitForNoSleepers()
        let engine = try await bed.restarted()
        let again = try await engine.acquireSilent(bed.silent { $0.forceRefresh = true })
        #expect(again.persisted)
        #expect(bed.provider.refreshes == ["rt-1", "rt-2"])
    }

    @Test("changes that the disk refused are written in order with the next one that it takes")
    func backlog() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        bed.vault.failWriting(.io("broken"))
        _ = try await bed.engine.acquireSilent(bed.silent { $0.forceRefresh = true })
        _ = try await bed.engine.acquireSilent(bed.silent { $0.forceRefresh = true })
        bed.vault.failWriting(nil)
        let token = try await bed.engine.acquireSilent(bed.silent { $0.forceRefresh = true })
        #expect(token.persisted)
        let engine = try await bed.restarted()
        _ = try await engine.acquireSilent(bed.silent { $0.forceRefresh = true })
        #expect(bed.provider.refreshes == ["rt-1", "rt-2", "rt-3", "rt-4"])
    }
}

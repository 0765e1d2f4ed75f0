import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

/// Whoever remembers an answer relies on it.
@Suite("What memory answers by counts its changes")
struct ChangeCountTests {
    private func counts(
        _ what: String, on bed: EngineBed, _ change: () async throws -> Void,
        location: SourceLocation = #_sourceLocation
    ) async throws {
        let before = bed.engine.changes
        try await change()
        #expect(bed.engine.changes > before, "\(what)", sourceLocation: location)
    }

    private func signOut(_ app: AppRegistration?) -> SignOutRequest {
        var request = SignOutRequest(
            partition: Sample.partition, account: .username("alice"), correlationID: "correlation-1")
        request.app = app
        return request
    }

    @Test("a sign-in, a refresh, a sign-out, and all that takes an account or its tokens away")
    func cache() async throws {
        let bed = try await EngineBed()
        let engine = bed.engine
        try await counts("a sign-in", on: bed) { try await bed.signIn() }
        try await counts("a refresh", on: bed) {
            _ = try await engine.acquireSilent(bed.silent { $0.forceRefresh = true })
        }
        try await counts("a sign-out", on: bed) { _ = try await engine.signOut(signOut(Sample.app())) { _ in } }
        try await bed.signIn()
        try await counts("a sign-out of everything", on: bed) { _ = try await engine.signOut(signOut(nil)) { _ in } }
        try await bed.signIn()
        try await counts("a removal", on: bed) {
            _ = try await engine.remove(.username("alice"), from: Sample.app(), in: Sample.partition)
        }
        try await bed.signIn()
        try await counts("an erasure", on: bed) {
            _ = try await engine.forget(
                .username("alice"), revoke: false, correlationID: "correlation-1", in: Sample.partition)
        }
        try await bed.signIn()
        try await counts("an erasure of everybody", on: bed) {
            _ = try await engine.clearCache(revoke: false, correlationID: "correlation-1", in: Sample.partition)
        }
        try await bed.signIn()
        try await counts("an erasure of the partition", on: bed) {
            try await engine.erase(Sample.partition, from: bed.vault)
        }
        try await counts("another state of the vault", on: bed) {
            try await engine.acceptState(of: Sample.partition)
        }
    }

    @Test("what the disk refuses and memory has all the same")
    func refused() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        bed.vault.failWriting(.full("no space"))
        try await counts("a refresh", on: bed) {
            let token = try await bed.engine.acquireSilent(bed.silent { $0.forceRefresh = true })
            #expect(!token.persisted)
        }
    }

    @Test("the settings, and a lock")
    func settings() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        var settings = EngineSettings()
        settings.expiryBuffer = 60
        try await counts("settings", on: bed) { bed.engine.apply(settings) }
        try await counts("a lock", on: bed) { await bed.engine.lock.lock(because: "of a test") }
    }

    @Test("what only looks, and what is read again, is no change")
    func looks() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        let before = bed.engine.changes
        #expect(bed.engine.memory.cached(bed.silent()) != nil)
        #expect(bed.engine.memory.cached(bed.silent(Sample.app(), ["other"])) == nil)
        _ = try bed.engine.accounts(of: nil, includeSignedOut: true, in: Sample.partition)
        _ = try bed.engine.cacheStatistics(of: Sample.partition)
        bed.engine.rest()
        #expect(try await bed.engine.acquireSilent(bed.silent()).fromCache)
        #expect(bed.engine.changes == before)
    }
}

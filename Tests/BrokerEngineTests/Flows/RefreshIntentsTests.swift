import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("A refresh token that is under way")
struct RefreshIntentsTests {
    private func forced(_ bed: EngineBed, _ id: String? = nil) -> SilentRequest {
        bed.silent {
            $0.forceRefresh = true
            if let id { $0.query.account = .id(id) }
        }
    }

    private func tokens(_ bed: EngineBed) throws -> [RefreshTokenRecord] {
        try bed.vault.loadAll(RefreshTokenRecord.self, in: Sample.partition).map(\.record)
    }

    @Test("is marked on disk before the provider sees it, and its successor is not")
    func marked() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        let seen = Recorder<[NumericDate?]>()
        bed.provider.whenRedeeming { [vault = bed.vault, unowned provider = bed.provider] _ throws(ProviderError) in
            seen.add(
                (try? vault.loadAll(RefreshTokenRecord.self, in: Sample.partition).map(\.record.unansweredAt)) ?? [])
            return provider.tokens()
        }
        _ = try await bed.engine.acquireSilent(forced(bed))
        #expect(seen.all == [[.some(bed.clock.now)]])
        #expect(try tokens(bed).map(\.unansweredAt) == [nil])
    }

    @Test(
        "is as it was when the provider did not take it, or leaves it as it is",
        arguments: [nil, ProviderError.offline("no network")])
    func unmarked(error: ProviderError?) async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ throws(ProviderError) in
            if let error { throw error }
            var response = provider.tokens()
            response.refreshToken = nil
            return response
        }
        _ = try? await bed.engine.acquireSilent(forced(bed))
        #expect(bed.provider.refreshes == ["rt-1"])
        #expect(try tokens(bed).map(\.unansweredAt) == [nil])
    }

    @Test("the marks of many that leave at once are few transactions")
    func many() async throws {
        let bed = try await EngineBed()
        var ids: [String] = []
        for number in 0..<60 { ids.append(try await bed.signIn("user\(number)").account.id) }
        let (before, gate) = (bed.vault.commits, bed.holdTokens())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in ids { group.addTask { _ = try await bed.engine.acquireSilent(forced(bed, id)) } }
            try await bed.provider.waitForRefreshes(ids.count)
            #expect(bed.vault.commits - before < ids.count / 2)
            gate.open()
            try await group.waitForAll()
        }
        #expect(try tokens(bed).allSatisfy { $0.unansweredAt == nil })
    }
}

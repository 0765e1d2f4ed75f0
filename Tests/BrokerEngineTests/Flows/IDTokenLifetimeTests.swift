import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

/// Requests whose lifetime is that of the ID token.
@Suite("The lifetime of the requested token")
struct IDTokenLifetimeTests {
    /// A sign-in with an access token for an hour and an ID token for five minutes.
    ///
    /// - Parameter renews: whether a refresh brings another ID token.
    private func signedIn(renews: Bool = true) async throws -> EngineBed {
        let bed = try await EngineBed()
        bed.provider.say { [clock = bed.clock] in $0["exp"] = .integer(clock.now + 300) }
        bed.provider.whenRedeeming { [unowned provider = bed.provider] grant in
            var response = provider.tokens(for: "alice")
            if !renews, case .refreshToken = grant { response.idToken = nil }
            return response
        }
        try await bed.signIn()
        return bed
    }

    private func request(_ bed: EngineBed, _ minimum: Int64? = nil) -> SilentRequest {
        bed.silent {
            $0.query.lifetimeOf = .idToken
            $0.query.minimumLifetime = minimum
        }
    }

    @Test("an ID token that soon ends is renewed, while the access token is answered from the cache")
    func renewed() async throws {
        let bed = try await signedIn()
        let start = bed.clock.now
        let first = try await bed.engine.acquireSilent(request(bed))
        #expect(first.fromCache && first.lifetimeOf == .idToken && first.idTokenEnd == start + 300)
        bed.clock.advance(bySeconds: 241)
        #expect(try await bed.engine.acquireSilent(bed.silent()).fromCache)
        let second = try await bed.engine.acquireSilent(request(bed))
        #expect(!second.fromCache && second.idTokenEnd == start + 541 && second.lifetimeOf == .idToken)
        #expect(bed.provider.refreshes == ["rt-1"])
        #expect(bed.engine.cached(request(bed))?.idTokenEnd == start + 541)
    }

    @Test("a minimum lifetime applies to the ID token")
    func minimum() async throws {
        let bed = try await signedIn()
        bed.clock.advance(bySeconds: 100)
        #expect(try await bed.engine.acquireSilent(request(bed, 200)).fromCache)
        #expect(try await !bed.engine.acquireSilent(request(bed, 201)).fromCache)
    }

    @Test("without a new ID token there is one refresh, then the old one until its end, then the person")
    func notRenewed() async throws {
        let bed = try await signedIn(renews: false)
        bed.clock.advance(bySeconds: 241)
        for _ in 0..<3 {
            let token = try await bed.engine.acquireSilent(request(bed))
            #expect(token.idTokenEnd == bed.clock.now + 59)
        }
        #expect(bed.provider.refreshes == ["rt-1"])
        bed.clock.advance(bySeconds: 59)
        for _ in 0..<3 {
            let error = await #expect(throws: BrokerError.self) { try await bed.engine.acquireSilent(request(bed)) }
            #expect(error?.kind == .interactionRequired && error?.reason == .idTokenExpired)
        }
        #expect(bed.provider.refreshes == ["rt-1"])
        #expect(try await bed.engine.acquireSilent(bed.silent()).fromCache)
    }

    @Test("an expired ID token is not returned, after a refresh without one or while the provider is away")
    func ended() async throws {
        let bed = try await signedIn(renews: false)
        bed.clock.advance(bySeconds: 301)
        let error = await #expect(throws: BrokerError.self) { try await bed.engine.acquireSilent(request(bed)) }
        #expect(error?.reason == .idTokenExpired)

        let away = try await signedIn()
        away.clock.advance(bySeconds: 250)
        away.provider.whenRedeeming { _ throws(ProviderError) in throw .offline("gone") }
        #expect(try await away.engine.acquireSilent(request(away)).fromCache)
        away.clock.advance(bySeconds: 50)
        let gone = await #expect(throws: BrokerError.self) { try await away.engine.acquireSilent(request(away)) }
        #expect(gone?.kind == .offline)
    }

    @Test("the ID token's expiry from the vault counts after a restart")
    func restarted() async throws {
        let bed = try await signedIn()
        let end = bed.clock.now + 300
        let engine = try await bed.restarted()
        #expect(try await engine.acquireSilent(request(bed)).idTokenEnd == end)
    }
}

import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Synchronization
import Testing

@Suite("Tokens bound to a key (DPoP)")
struct BoundTokenTests {
    private static func bed() async throws -> EngineBed {
        let bed = try await EngineBed()
        bed.provider.offer { $0.dpopAlgorithms = ["RS256", "ES256"] }
        bed.provider.bindTokens()
        return bed
    }

    private func signIn(
        _ bed: EngineBed, app: AppRegistration = Sample.app(), type: TokenType = .dpop
    ) async throws -> AcquiredToken {
        try await bed.signIn("alice", bed.interactive(app) { $0.tokenType = type })
    }

    private func silent(
        _ bed: EngineBed, app: AppRegistration = Sample.app(), type: TokenType = .dpop, force: Bool = false
    ) async throws -> AcquiredToken {
        try await bed.engine.acquireSilent(
            bed.silent(app) {
                $0.tokenType = type
                $0.forceRefresh = force
            })
    }

    private func failure(_ body: () async throws -> AcquiredToken) async -> BrokerError? {
        await #expect(throws: BrokerError.self) { try await body() }
    }

    private func prove(_ bed: EngineBed, _ app: AppRegistration = Sample.app()) throws -> IssuedProof {
        try bed.engine.proof(
            ProofRequest(
                partition: Sample.partition, app: app,
                target: ProofTarget(method: "GET", url: "https://api.example/mail")))
    }

    @Test("the code is requested and redeemed with one key, whose thumbprint the token carries")
    func signIn() async throws {
        let bed = try await Self.bed()
        let token = try await signIn(bed)
        #expect(token.token.record.tokenType == .dpop)
        let thumbprint = try #require(token.token.record.keyThumbprint)
        #expect(bed.provider.authorizations.first?.proofKeyThumbprint == thumbprint)
        #expect(bed.provider.extras.first?.proofKey?.thumbprint == thumbprint)
        #expect(try prove(bed).keyThumbprint == thumbprint)
    }

    @Test("another nonce for each proof asks for no other sign-in and keeps the refresh token")
    func nonces() async throws {
        let bed = try await Self.bed()
        _ = try await signIn(bed)
        let code = Mutex("use_dpop_nonce")
        bed.provider.whenRedeeming { _ throws(ProviderError) in
            throw .refused(OAuthRefusal(error: code.withLock { $0 }, status: 400))
        }
        let ofRefresh = await failure { try await silent(bed, force: true) }
        #expect(ofRefresh?.kind == .serverUnavailable && ofRefresh?.details.oauthError == "use_dpop_nonce")
        code.withLock { $0 = "invalid_dpop_proof" }
        let ofSignIn = await failure { try await signIn(bed) }
        #expect(ofSignIn?.kind == .serverUnavailable && ofSignIn?.message.contains("clock") == true)
        bed.provider.bindTokens()
        _ = try await silent(bed, force: true)
        #expect(bed.provider.refreshes == ["rt-1", "rt-1"])
    }

    @Test("the cached token answers only requests of its own type, also on the hot path")
    func typesDoNotMix() async throws {
        let bed = try await Self.bed()
        _ = try await signIn(bed)
        #expect(bed.engine.cached(bed.silent { $0.tokenType = .dpop }) != nil)
        #expect(bed.engine.cached(bed.silent()) == nil)
        #expect(try await silent(bed).fromCache)
        let refusal = await failure { try await silent(bed, type: .bearer) }
        #expect(refusal?.kind == .interactionRequired)
        #expect(bed.provider.refreshes.isEmpty)
    }

    @Test("a refresh proves the key that the refresh token is bound to, also after a restart")
    func refresh() async throws {
        let bed = try await Self.bed()
        let first = try await signIn(bed)
        let second = try await silent(bed, force: true)
        let engine = try await bed.restarted()
        let third = try await engine.acquireSilent(
            bed.silent {
                $0.tokenType = .dpop
                $0.forceRefresh = true
            })
        #expect(bed.provider.refreshes == ["rt-1", "rt-2"])
        #expect(Set(bed.provider.extras.map { $0.proofKey?.thumbprint }).count == 1)
        #expect(
            Set([first, second, third].map(\.token.record.keyThumbprint)) == [
                bed.provider.extras[0].proofKey?.thumbprint
            ]
        )
    }

    @Test("bearer and bound tokens of one account coexist, each with its refresh token")
    func sideBySide() async throws {
        let bed = try await Self.bed()
        _ = try await signIn(bed, type: .bearer)
        _ = try await signIn(bed)
        _ = try await silent(bed, type: .bearer, force: true)
        _ = try await silent(bed, force: true)
        #expect(bed.provider.refreshes == ["rt-1", "rt-2"])
        #expect(bed.provider.extras.map { $0.proofKey == nil } == [true, false, true, false])
        #expect(try await silent(bed, type: .bearer).fromCache)
        #expect(try await silent(bed).fromCache)
    }

    @Test("an unbound refresh token can bring bound ones, and is removed once redeemed for a bound successor")
    func upgrade() async throws {
        let bed = try await Self.bed()
        _ = try await signIn(bed, type: .bearer)
        let token = try await silent(bed)
        #expect(token.token.record.tokenType == .dpop)
        #expect(bed.provider.refreshes == ["rt-1"])
        // The bearer access token is still valid; after its expiry, the old refresh token must not be tried.
        #expect(try await silent(bed, type: .bearer).fromCache)
        let refusal = await failure { try await silent(bed, type: .bearer, force: true) }
        #expect(refusal?.reason == .noTokens)
        _ = try await silent(bed, force: true)
        #expect(bed.provider.refreshes == ["rt-1", "rt-2"])
    }

    @Test("a confidential client's refresh token is not bound, and serves both types")
    func confidential() async throws {
        let bed = try await Self.bed()
        var app = Sample.app()
        app.clientSecret = Secret("s")
        _ = try await signIn(bed, app: app)
        _ = try await silent(bed, app: app, type: .bearer)
        _ = try await silent(bed, app: app, force: true)
        #expect(bed.provider.refreshes == ["rt-1", "rt-2"])
    }

    @Test("a provider that does not announce DPoP is not asked, and the error names it")
    func notOffered() async throws {
        let bed = try await Self.bed()
        bed.provider.offer { $0.dpopAlgorithms = ["RS256"] }
        let refusal = await failure {
            try await bed.engine.acquireInteractive(bed.interactive { $0.tokenType = .dpop }) { _ in }
        }
        #expect(refusal?.kind == .unsupported)
        #expect(refusal?.message.contains("id.example.org") == true)
        #expect(bed.provider.grants.isEmpty)
    }

    @Test("a bearer token received instead of a bound one is not returned, and the sign-in survives")
    func downgrade() async throws {
        let bed = try await Self.bed()
        _ = try await signIn(bed)
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in provider.tokens() }
        #expect(await failure { try await silent(bed, force: true) }?.kind == .unsupported)
        bed.provider.bindTokens()
        _ = try await silent(bed, force: true)
        #expect(bed.provider.refreshes == ["rt-1", "rt-2"])
    }

    @Test("a second sign-in makes a new key and removes the tokens bound to the old one")
    func secondSignIn() async throws {
        let bed = try await Self.bed()
        let first = try await signIn(bed)
        let second = try await bed.signIn("alice", bed.interactive(Sample.app(), ["calendar"]) { $0.tokenType = .dpop })
        #expect(first.token.record.keyThumbprint != second.token.record.keyThumbprint)
        #expect(try prove(bed).keyThumbprint == second.token.record.keyThumbprint)
        #expect(await failure { try await silent(bed) }?.reason == .scopesNotGranted)
        #expect(bed.provider.refreshes.isEmpty)
    }

    @Test("a first bound refresh that ends after a bound sign-in leaves the sign-in's key and tokens")
    func refreshEndsLater() async throws {
        let bed = try await Self.bed()
        _ = try await signIn(bed, type: .bearer)
        bed.provider.refreshGate.close()
        let refresh = Task { try await silent(bed) }
        try await bed.provider.waitForRefreshes()
        let signedIn = try await signIn(bed)
        bed.provider.refreshGate.open()
        let answer = try await refresh.value
        #expect(answer.fromCache && answer.token.record.keyThumbprint == signedIn.token.record.keyThumbprint)
        #expect(try prove(bed).keyThumbprint == signedIn.token.record.keyThumbprint)
        // The spent token is gone, and what came for it is of no use.
        let refusal = await failure { try await silent(bed, type: .bearer, force: true) }
        #expect(refusal?.reason == .noTokens)
        _ = try await silent(bed, force: true)
        #expect(bed.provider.refreshes == ["rt-1", "rt-2"])
    }

    @Test("an account named in the request signs in again with its existing key")
    func sameKey() async throws {
        let bed = try await Self.bed()
        let first = try await signIn(bed)
        let request = bed.interactive { ($0.tokenType, $0.account) = (.dpop, .username("alice")) }
        let again = try await bed.signIn("alice", request)
        #expect(again.token.record.keyThumbprint == first.token.record.keyThumbprint)
    }

    @Test("the key goes with the account's tokens when they are removed")
    func removed() async throws {
        let bed = try await Self.bed()
        _ = try await signIn(bed)
        _ = try await bed.engine.remove(.username("alice"), from: Sample.app(), in: Sample.partition)
        #expect(try bed.vault.loadAll(ProofKeyRecord.self, in: Sample.partition).isEmpty)
        #expect(throws: BrokerError.self) { try prove(bed) }
    }

    @Test("no proof is made without a valid bound token")
    func nothingToProve() async throws {
        let bed = try await Self.bed()
        _ = try await signIn(bed, type: .bearer)
        #expect(#expect(throws: BrokerError.self) { try prove(bed) }?.kind == .interactionRequired)
        _ = try await silent(bed)
        _ = try prove(bed)
        bed.clock.advance(bySeconds: 3600)
        #expect(#expect(throws: BrokerError.self) { try prove(bed) }?.kind == .interactionRequired)
    }
}

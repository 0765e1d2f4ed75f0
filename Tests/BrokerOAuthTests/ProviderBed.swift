import BrokerModel
import BrokerOAuth
import BrokerTestSupport
import BrokerValues

/// A scripted provider, the broker's side, and a clock for both.
struct ProviderBed: Sendable {
    let provider: ScriptedProvider
    let oauth: OAuthProvider
    let http: HTTPClient
    let clock: ManualClock

    func metadata() async throws -> ProviderMetadata { try await oauth.metadata(of: provider.authority) }

    /// The error of something that must fail.
    func failure<Result>(_ body: () async throws -> Result) async -> ProviderError? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error as? ProviderError
        }
    }

    /// Advances past the pause before a second attempt, each time there is one.
    func passMoments() -> Task<Void, any Error> {
        Task { [clock] in
            while true {
                try await clock.waitForSleepers()
                clock.advance(bySeconds: 1)
            }
        }
    }

    /// A code that a person has just consented to, with its verifier.
    func code(clientID: String = "app", nonce: String = "n-1", random: any RandomSource = CountingRandom())
        -> TokenGrant
    {
        let pkce = PKCE(random: random)
        let code = provider.issueCode(
            .init(clientID: clientID, redirectURI: "http://127.0.0.1/cb", nonce: nonce, codeChallenge: pkce.challenge))
        return .authorizationCode(
            Secret(code), verifier: pkce.verifier, redirectURI: "http://127.0.0.1/cb")
    }
}

func withProvider<Result>(
    _ kind: SigningIdentity.Kind = .es256, timeout: Duration = .seconds(600),
    _ body: (ProviderBed) async throws -> Result
) async throws -> Result {
    let clock = ManualClock()
    let provider = try await ScriptedProvider.start(kind, now: { clock.now })
    var configuration = HTTPClientConfiguration.patient()
    configuration.totalTimeout = timeout
    let http = try HTTPClient(configuration: configuration)
    let oauth = OAuthProvider(http: http, clock: clock, proofs: ES256ProofSigner(random: CountingRandom()))
    let bed = ProviderBed(provider: provider, oauth: oauth, http: http, clock: clock)
    do {
        let result = try await body(bed)
        await provider.stop()
        await http.shutdown()
        return result
    } catch {
        await provider.stop()
        await http.shutdown()
        throw error
    }
}

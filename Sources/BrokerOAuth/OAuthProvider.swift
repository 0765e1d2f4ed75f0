import BrokerModel
import BrokerValues

/// OAuth 2 and OpenID Connect over HTTP: the ``IdentityProvider`` of the real broker.
///
/// One per process. It has nothing to shut down; its transport does (``HTTPClient/shutdown()``):
///
///     let http = try HTTPClient(configuration: .init(
///         version: version, caFile: caFile, proxies: ProxySettings(environment: ProcessInfo.processInfo.environment)))
///     let provider = OAuthProvider(http: http, clock: clock, proofs: ES256ProofSigner(random: random))
///     …
///     await engine.drain()
///     await http.shutdown()
package final class OAuthProvider: IdentityProvider {
    let transport: any HTTPTransport
    let clock: any BrokerClock
    let proofs: any ProofSigner
    let nonces = NonceMemory()
    let thread = ParserThread()
    private let discovery: Discovery
    private let signatures: SignatureCheck

    /// - Parameters:
    ///   - http: where requests go.
    ///   - clock: used for the freshness of documents, the times in ID tokens and dates in `Retry-After`.
    ///   - proofs: signs proofs for tokens that are bound to a key.
    ///   - completions: the administrator's additions to providers' metadata.
    ///   - documents: keeps metadata and keys across restarts; `nil` fetches them anew after each.
    package init(
        http: any HTTPTransport, clock: any BrokerClock, proofs: any ProofSigner,
        completions: MetadataOverrides = MetadataOverrides(), documents store: DocumentStore? = nil
    ) {
        transport = http
        self.clock = clock
        self.proofs = proofs
        discovery = Discovery(
            documents: DocumentCache(transport: http, clock: clock, store: store, thread: thread),
            completions: completions)
        signatures = SignatureCheck(
            documents: DocumentCache(transport: http, clock: clock, store: store, thread: thread))
    }

    /// Takes effect with the next request.
    package func apply(_ completions: MetadataOverrides) { discovery.apply(completions) }

    package func metadata(of authority: Authority) async throws(ProviderError) -> ProviderMetadata {
        try await discovery.metadata(of: authority)
    }

    package func authorizationURL(_ request: AuthorizationRequest, at metadata: ProviderMetadata) -> String {
        AuthorizationURL.build(request, at: metadata)
    }

    package func redeem(
        _ grant: TokenGrant, with extras: TokenRequestExtras, as client: ClientCredentials,
        at metadata: ProviderMetadata
    ) async throws(ProviderError) -> TokenResponse {
        do throws(ProviderError) {
            return try await redeemAtCurrentEndpoint(grant, with: extras, as: client, at: metadata)
        } catch let first {
            guard !grant.isPolled, await SecondTry.follows(first, by: clock) else { throw first }
            do throws(ProviderError) {
                return try await redeemAtCurrentEndpoint(grant, with: extras, as: client, at: metadata)
            } catch .refused(var refusal) {
                refusal.isOfSecondTry = true
                throw .refused(refusal)
            } catch {
                if case .unusableTokens = error { throw error }
                // The second try says nothing about the first.
                throw first.mayHaveSpentGrant && !error.mayHaveSpentGrant ? first.pausing(as: error) : error
            }
        }
    }

    /// A missing endpoint has not processed the request: if the provider names another one by now, that one is asked. What was
    /// meant for the authority's own host goes to no other: the caller may have demanded that (RFC 9700, section 4.4).
    private func redeemAtCurrentEndpoint(
        _ grant: TokenGrant, with extras: TokenRequestExtras, as client: ClientCredentials,
        at metadata: ProviderMetadata
    ) async throws(ProviderError) -> TokenResponse {
        do throws(ProviderError) {
            return try await redeemOnce(grant, with: extras, as: client, at: metadata)
        } catch .invalidResponse(status: let status?, let why) where status == 404 || status == 410 {
            guard let renewed = await discovery.renewedMetadata(of: metadata.authority),
                renewed.issuer == metadata.issuer, renewed.tokenEndpoint != metadata.tokenEndpoint,
                renewed.isTokenEndpointOwn || !metadata.isTokenEndpointOwn
            else { throw .invalidResponse(status: status, why) }
            return try await redeemOnce(grant, with: extras, as: client, at: renewed)
        }
    }

    private func redeemOnce(
        _ grant: TokenGrant, with extras: TokenRequestExtras, as client: ClientCredentials,
        at metadata: ProviderMetadata
    ) async throws(ProviderError) -> TokenResponse {
        let endpoint = try endpoint(metadata.tokenEndpoint, of: metadata)
        let request = try TokenRequestBuilder.build(grant, with: extras, to: endpoint, as: client, at: metadata)
        let answer = try await answer(to: request, provenWith: extras.proofKey, from: endpoint)
        return try TokenAnswer(answer: answer, grant: grant, isProven: extras.proofKey != nil).read()
    }

    package func verify(
        idToken: Secret, against expectation: IDTokenExpectation, at metadata: ProviderMetadata
    ) async throws(ProviderError) -> IDTokenClaims {
        let token = await thread.read(bytes: idToken.count) { CompactToken(idToken) }
        guard let token, !token.hasCriticalExtensions, !token.hasOtherType else {
            throw Self.refused("it is malformed")
        }
        guard let issuer = IssuerRule(metadata.issuer, of: metadata.authority) else {
            throw Self.refused(.issuer(metadata.issuer, asked: metadata.authority.url))
        }
        let algorithm = try await checkSignature(of: token, issuer, expectation, at: metadata)
        do throws(IDTokenRules.Violation) {
            return try IDTokenRules(
                issuer: issuer, expectation: expectation, now: clock.now,
                accessTokenHash: expectation.accessToken.map { TokenHash.leftHalf(of: $0, signedWith: algorithm) }
            ).check(token.claims)
        } catch {
            throw Self.refused(error)
        }
    }

    private static func refused(_ violation: IDTokenRules.Violation) -> ProviderError {
        refused(violation.clause, advice: violation.advice)
    }

    /// - Returns: the algorithm's name.
    private func checkSignature(
        of token: CompactToken, _ issuer: IssuerRule, _ expectation: IDTokenExpectation, at metadata: ProviderMetadata
    ) async throws(ProviderError) -> String {
        let name = token.algorithmName ?? "nothing"
        if name == SharedSecretSignature.algorithm, let clientSecret = expectation.clientSecret,
            SharedSecretSignature.isOffered(by: metadata)
        {
            guard SharedSecretSignature.isValid(token, by: clientSecret) else {
                throw Self.refused("it is not signed with the client's secret")
            }
            return name
        }
        guard let algorithm = SignatureAlgorithm(name: name) else {
            throw Self.refused("it is signed with \(SafeText(name, atMost: 20).text), which is not accepted")
        }
        let keys = DocumentPlace(try endpoint(metadata.jwksURI, of: metadata), of: metadata.authority)
        try await signatures.verify(
            token, algorithm: algorithm, of: issuer, keysAt: keys, isSignIn: expectation.isSignIn)
        return algorithm.rawValue
    }

    private static func refused(
        _ why: String, advice: String = IDTokenRules.Violation.usualAdvice
    ) -> ProviderError {
        .invalidResponse(status: nil, "The ID token cannot be accepted: \(why). \(advice)")
    }
}

extension ProviderError {
    /// The same error with the pause that a later answer asks for: a minute after a 429 without a time.
    fileprivate func pausing(as later: ProviderError) -> ProviderError {
        guard case .unavailable(let status, _, let text) = self, case .unavailable(let other, let pause, _) = later
        else { return self }
        return .unavailable(status: status, retryAfter: pause ?? (other == 429 ? 60 : nil), text)
    }
}

extension TokenGrant {
    /// The request is sent again soon anyway.
    fileprivate var isPolled: Bool { if case .deviceCode = self { true } else { false } }
}

import BrokerModel
import BrokerValues

/// The random parts of one sign-in, and the authorization request made of them.
struct SignInAttempt: Sendable {
    let metadata: ProviderMetadata
    let expectation: RedirectCheck.Expectation
    let nonce: String
    let verifier: Secret
    /// What the tokens shall be bound to.
    let proofKey: ProofKey?
    private let codeChallenge: String

    /// - Parameter otherClouds: where the person may be at home instead.
    init(metadata: ProviderMetadata, proofKey: ProofKey?, otherClouds: Set<String>, random: any RandomSource) {
        self.metadata = metadata
        self.proofKey = proofKey
        let pkce = PKCE(random: random)
        verifier = pkce.verifier
        codeChallenge = pkce.challenge
        nonce = Base64URL.encode(random.bytes(16))
        var expectation = RedirectCheck.Expectation(
            state: Base64URL.encode(random.bytes(32)), issuer: metadata.issuer,
            requiresIssuer: metadata.promisesIssuerInResponse)
        if case .entra = metadata.authority.kind {
            expectation.clouds = CloudExpectation(authority: metadata.authority, others: otherClouds)
        }
        self.expectation = expectation
    }

    /// - Parameters:
    ///   - scopes: what tokens shall be good for; consent is asked for the request's extra scopes, too.
    ///   - prompt: as ``PromptRule`` has it.
    ///   - account: the one asked for; its username goes along as the hint.
    func authorization(
        _ request: InteractiveRequest, scopes: Scopes, prompt: Prompt?, account: KnownAccounts.Entry?,
        redirectURI: String
    ) -> AuthorizationRequest {
        var authorization = AuthorizationRequest(
            clientID: request.app.clientID, redirectURI: redirectURI,
            scopes: ScopeRules.toAuthorize(scopes, extra: request.extraScopesToConsent),
            state: expectation.state, nonce: nonce, codeChallenge: codeChallenge,
            correlationID: request.correlationID)
        authorization.prompt = prompt
        authorization.loginHint = account?.account.username ?? request.loginHint
        authorization.domainHint = request.domainHint
        authorization.asksClientInfo = request.target.kind.isEntraFamily
        authorization.isInstanceAware = expectation.clouds?.others.isEmpty == false
        authorization.claims = ClaimsRule.merged(request.claims, capabilities: request.clientCapabilities)
        authorization.maxAge = request.maxAge
        authorization.acrValues = request.acrValues
        authorization.proofKeyThumbprint = proofKey?.thumbprint
        authorization.resources = request.resources
        authorization.extraQueryParameters = request.extraQueryParameters
        return authorization
    }
}

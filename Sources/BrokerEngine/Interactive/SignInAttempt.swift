import BrokerModel
import BrokerValues

/// The random parts of one sign-in, and the authorization request made of them.
struct SignInAttempt: Sendable {
    let session: InteractionSession
    let metadata: ProviderMetadata
    let nonce: String
    let verifier: Secret
    private let codeChallenge: String

    init(_ request: InteractiveRequest, metadata: ProviderMetadata, random: any RandomSource) {
        self.metadata = metadata
        let pkce = PKCE(random: random)
        verifier = pkce.verifier
        codeChallenge = pkce.challenge
        nonce = Base64URL.encode(random.bytes(16))
        session = InteractionSession(
            id: Base64URL.encode(random.bytes(16)), partition: request.partition, appName: request.app.name,
            expectation: RedirectCheck.Expectation(
                state: Base64URL.encode(random.bytes(32)), issuer: metadata.issuer,
                requiresIssuer: metadata.promisesIssuerInResponse))
    }

    /// - Parameter expected: the account asked for: its username goes along as the hint, and after a sign-out the
    ///   person has to prove who they are (MSAL, "Interactive").
    func authorization(
        _ request: InteractiveRequest, redirectURI: String, expected: KnownAccounts.Entry?
    ) -> AuthorizationRequest {
        var authorization = AuthorizationRequest(
            clientID: request.app.clientID, redirectURI: redirectURI,
            scopes: ScopeRules.toAuthorize(request.scopes, extra: request.extraScopesToConsent),
            state: session.expectation.state, nonce: nonce, codeChallenge: codeChallenge,
            correlationID: request.correlationID)
        let wasSignedOut = expected.map { !$0.stored.record.signedIn } ?? false
        authorization.prompt = request.prompt ?? (wasSignedOut ? .login : nil)
        authorization.loginHint = expected?.account.username ?? request.loginHint
        authorization.domainHint = request.domainHint
        authorization.claims = ClaimsRule.merged(request.claims, capabilities: request.clientCapabilities)
        authorization.maxAge = request.maxAge
        authorization.acrValues = request.acrValues
        authorization.resources = request.resources
        authorization.extraQueryParameters = request.extraQueryParameters
        return authorization
    }
}

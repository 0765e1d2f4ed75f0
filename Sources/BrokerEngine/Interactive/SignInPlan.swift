import BrokerModel
import BrokerTokenCache
import BrokerValues

/// The question of one flight to the provider and the person.
struct SignInPlan: Sendable {
    /// The first request; those that joined ask for the same.
    let request: InteractiveRequest
    /// The authority to which the person is sent.
    let authority: Authority
    /// The other clouds in which they may turn out to be at home.
    let otherClouds: Set<String>
    let prompt: Prompt?
    /// The account that must sign in.
    let account: KnownAccount?
    /// The expected person: the account, or the one that the hint names.
    let person: KnownAccount?
    let startedAt: NumericDate

    var client: ClientKey { ClientKey(of: request.app, at: authority, in: request.partition) }

    var requirements: SignInRequirements {
        var requirements = SignInRequirements()
        requirements.account = account
        if request.isHintBinding { requirements.username = request.loginHint }
        requirements.maxAge = request.maxAge
        requirements.startedAt = startedAt
        requirements.contexts = ClaimsRule.essentialContexts(in: request.claims)
        return requirements
    }

    func isPushed(at metadata: ProviderMetadata) -> Bool {
        metadata.requiresPushedAuthorization || request.pushesAuthorization
    }
}

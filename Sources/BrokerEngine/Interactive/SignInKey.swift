import BrokerModel
import BrokerTokenCache
import BrokerValues

/// Everything that a sign-in asks of the provider and the person. Equal requests share one browser window; anything
/// that changes the question is included, and a request's timeout is not. So is the sandbox: it could answer for
/// others, as somebody else.
struct SignInKey: Sendable, Hashable {
    private let partition: Partition
    /// `nil` for programs outside of sandboxes: they trust each other.
    private let sandbox: QuotaOwner?
    private let app: String
    private let group: GroupID
    private let clientID: ExactText
    private let authority: Authority
    private let isInstanceAware: Bool
    private let account: HomeAccountID?
    /// Another cloud could issue the same id.
    private let accountEnvironment: String?
    private let scopes: Scopes
    private let extraScopes: Scopes
    private let claims: String?
    private let capabilities: [String]
    private let resources: Set<String>
    private let tokenType: TokenType
    private let prompt: Prompt?
    private let loginHint: String?
    private let isHintBinding: Bool
    private let domainHint: String?
    private let maxAge: Int64?
    private let acrValues: [String]
    private let extraQueryParameters: [String: String]
    private let pushesAuthorization: Bool
    private let redirectURI: String?

    /// - Parameters:
    ///   - authority: the authority at which the sign-in begins.
    ///   - account: the account that must sign in.
    ///   - prompt: the prompt that is sent to the provider.
    init(_ request: InteractiveRequest, at authority: Authority, account: KnownAccount?, prompt: Prompt?) {
        partition = request.partition
        sandbox = request.isOutside ? nil : request.claimant
        app = request.app.identity
        group = request.app.effectiveGroup
        clientID = ExactText(request.app.clientID)
        self.authority = authority
        isInstanceAware = request.isInstanceAware
        self.account = account?.stored.record.homeAccountID
        accountEnvironment = account?.stored.record.environment
        scopes = request.scopes
        extraScopes = request.extraScopesToConsent
        claims = request.claims
        capabilities = request.clientCapabilities
        resources = Set(request.resources)
        tokenType = request.tokenType
        self.prompt = prompt
        loginHint = request.loginHint
        isHintBinding = request.isHintBinding
        domainHint = request.domainHint
        maxAge = request.maxAge
        acrValues = request.acrValues
        extraQueryParameters = request.extraQueryParameters
        pushesAuthorization = request.pushesAuthorization
        redirectURI = request.redirectURI ?? request.app.redirectURI
    }

    /// Whether one of these people may sign in.
    func mayBeFor(_ people: Set<KnownAccounts.PersonKey>) -> Bool {
        guard let account, let accountEnvironment else { return !people.isEmpty }
        return people.contains(.init(homeAccountID: account, environment: accountEnvironment))
    }

    /// Whether exactly this person has to sign in.
    func isFor(_ person: KnownAccounts.PersonKey, in partition: Partition) -> Bool {
        self.partition == partition && account == person.homeAccountID && accountEnvironment == person.environment
    }
}

import BrokerValues

package enum AcquireTokenSilent: BrokerMethod {
    package static let name = "token.acquireSilent"
    package static let summary = "A token without asking the person."
    package static let description = """
        Answers from the cache when a token for these scopes is still good, else refreshes it. Never opens a browser: \
        when only the person can help, the answer is interactionRequired and its reason says why. All callers that need \
        one refresh share it.
        """
    package static let permission = Permission.app
    package static let errors: [ErrorKind] = [
        .interactionRequired, .offline, .serverUnavailable, .throttled, .ambiguousAccount, .accountNotFound,
        .appNotFound, .accessDenied, .serverDeclinedScopes, .invalidScope, .invalidClient, .invalidAuthority,
        .unauthorizedClient, .invalidResponse, .mismatchedUser, .unsupported,
    ]
    package static let resultName = "token"
    package typealias Result = Token

    package struct Params: TokenParams {
        package var app: String?
        package var clientId: String?
        package var authority: String?
        package var scopes: [String] = []
        package var account: AccountReference?
        package var claims: ClaimsRequest?
        package var forceRefresh = false
        package var minimumLifetime: Int64?
        package var tokenType = TokenType.bearer
        package var resource: ResourceList?
        package var clientCapabilities: [String] = []
        package var instanceAware: Bool?
        package var correlationId: String?

        package init() {}

        package init(_ selection: AppSelection, scopes: [String]) {
            self.scopes = scopes
            select(selection)
        }

        private static let paths = TokenParamPaths<Params>(
            app: \.app, clientId: \.clientId, authority: \.authority, scopes: \.scopes, account: \.account,
            claims: \.claims, minimumLifetime: \.minimumLifetime, tokenType: \.tokenType,
            resource: \.resource, clientCapabilities: \.clientCapabilities, instanceAware: \.instanceAware,
            correlationId: \.correlationId)

        package static let members: [Member<Params>] =
            tokenMembers(paths, account: "May be left out when exactly one account fits.") + [
                .defaulted("forceRefresh", \.forceRefresh, "True bypasses the cached token.", to: false)
            ]
    }
}

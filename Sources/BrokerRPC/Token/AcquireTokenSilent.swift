import BrokerValues

package enum AcquireTokenSilent: AppMethod {
    package static let name = "token.acquireSilent"
    package static let summary = "A token without asking the person."
    package static let description = """
        Answers from the cache if a token for these scopes is still valid, otherwise refreshes it. Never opens a browser: \
        if only the person can help, the answer is interactionRequired with a reason. All callers that need \
        one refresh share it.
        """
    package static let isIdempotent = true
    package static let right: SandboxRight? = .token
    package static let addsRecords = true
    package static let errors: [ErrorKind] = [
        .interactionRequired, .offline, .serverUnavailable, .throttled, .ambiguousAccount, .accountNotFound,
        .appNotFound, .accessDenied, .grantRequired, .serverDeclinedScopes, .invalidScope, .invalidClient,
        .invalidAuthority,
        .unauthorizedClient, .invalidResponse, .mismatchedUser, .unsupported,
    ]
    package static let resultName = "token"
    package typealias Result = Token

    package struct Params: TokenParams {
        package var selection = AppSelection()
        package var query = TokenQuery()
        package var forceRefresh = false
        package var rejectedToken: String?
        package var waitForGrant: Int64?
        package var correlationId: String?

        package init() {}

        package static let members: [Member<Params>] =
            appMembers(\.selection)
            + TokenQuery.members(account: "May be left out when exactly one account fits.").inside(\.query) + [
                .defaulted("forceRefresh", \.forceRefresh, "True bypasses the cached token.", to: false),
                .defaulted(
                    "narrow", \.query.isNarrow,
                    """
                    True bypasses a cached token with more than these scopes if a refresh can bring less; without scopes, it \
                    asks for the person's identity alone, not for the app's usual scopes. The provider may still give more.
                    """, to: false),
                .optional(
                    "rejectedToken", \.rejectedToken,
                    """
                    An access token that a resource server refused: the cached token is returned only if it is another one, \
                    otherwise there is one refresh; at most one a minute for an app, an account and the token's scopes, then \
                    the same token is returned, with rejected.
                    """, .text(atMost: 65_536)),
                .challenge(\.query.challenge),
                .defaulted(
                    "lifetimeOf", \.query.lifetimeOf,
                    """
                    The token that minimumLifetime and the answer's expiresOn refer to. An expired ID token is never \
                    returned for idToken.
                    """, to: .accessToken),
                .defaulted(
                    "extraQueryParameters", \.query.extraParameters,
                    """
                    Added to the request that refreshes the token; names the broker sets itself are refused. They do not \
                    affect a cached token.
                    """, to: [:], .query),
                waitingMember, .correlationID(\.correlationId),
            ]
    }
}

import BrokerValues

package enum AcquireTokenSilent: AppMethod {
    package static let name = "token.acquireSilent"
    package static let summary = "A token without asking the person."
    package static let description = """
        Answers from the cache when a token for these scopes is still good, else refreshes it. Never opens a browser: \
        when only the person can help, the answer is interactionRequired and its reason says why. All callers that need \
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
                .optional(
                    "rejectedToken", \.rejectedToken,
                    """
                    An access token that a resource server refused: the cached token is answered only if it is another one, \
                    else there is one refresh; at most one a minute for an app, an account and what the token is good for, then \
                    the same token comes back, with rejected.
                    """, .text(atMost: 65_536)),
                .challenge(\.query.challenge),
                .defaulted(
                    "lifetimeOf", \.query.lifetimeOf,
                    """
                    Which token minimumLifetime and the answer's expiresOn are about. An ID token that has ended is never \
                    answered to idToken.
                    """, to: .accessToken),
                .defaulted(
                    "extraQueryParameters", \.query.extraParameters,
                    """
                    Added to the request that refreshes the token; names the broker sets itself are refused. A cached token \
                    is answered whatever they are.
                    """, to: [:], .query),
                waitingMember, .correlationID(\.correlationId),
            ]
    }
}

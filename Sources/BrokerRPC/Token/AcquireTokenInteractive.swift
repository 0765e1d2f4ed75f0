import BrokerValues

package enum AcquireTokenInteractive: AppMethod {
    package static let name = "token.acquireInteractive"
    package static let summary = "A token, with the person signing in or consenting in a browser."
    package static let description = """
        Authorization code with PKCE (RFC 8252, RFC 7636). With presentation "client" the broker sends the notification \
        interaction.open on this connection, and the client opens its url; with "broker" the broker opens it. The answer \
        comes when the person is done, cancels, or the time is over. Equal requests, of programs outside of \
        sandboxes or of one sandbox (all without a confirmed name in one unit count as one), share one window: those \
        that join get interaction.joined, and all get the same answer. A connection that closes leaves the \
        sign-in, which ends with the last waiting request.
        """
    package static let right: SandboxRight? = .interactive
    package static let addsRecords = true
    package static let errors: [ErrorKind] = [
        .userCanceled, .timedOut, .serverDeclinedScopes, .mismatchedUser, .interactionRequired, .offline,
        .serverUnavailable, .accountNotFound, .ambiguousAccount, .appNotFound, .accessDenied, .grantRequired,
        .invalidScope,
        .invalidClient,
        .invalidAuthority, .unauthorizedClient, .invalidResponse, .unsupported, .throttled,
    ]
    package static let resultName = "token"
    package typealias Result = Token

    @dynamicMemberLookup
    package struct Params: TokenParams {
        package var selection = AppSelection()
        package var query = TokenQuery()
        package var interaction = InteractiveQuery()
        package var rejectedToken: String?
        package var waitForGrant: Int64?
        package var correlationId: String?

        package init() {}

        package subscript<Value>(dynamicMember path: WritableKeyPath<InteractiveQuery, Value>) -> Value {
            get { interaction[keyPath: path] }
            set { interaction[keyPath: path] = newValue }
        }

        package var reach: AppReach {
            .token(
                scopes: query.scopes, resources: query.resources,
                extra: interaction.extraScopesToConsent + (query.challenge?.scopes ?? []), account: query.account)
        }

        package static let members: [Member<Params>] =
            appMembers(\.selection)
            + TokenQuery.members(account: "The account that must sign in; another one is refused with mismatchedUser.")
            .inside(\.query) + InteractiveQuery.members.inside(\.interaction) + [
                .optional(
                    "rejectedToken", \.rejectedToken,
                    "As in token.acquireSilent; without effect, as a sign-in always gives another token.",
                    .text(atMost: 65_536)),
                .challenge(\.query.challenge), waitingMember, .correlationID(\.correlationId),
            ]
    }
}

extension InteractiveQuery {
    fileprivate static let members: [Member<InteractiveQuery>] = [
        .optional("loginHint", \.loginHint, "Username to fill in for the person.", .text(atMost: 512)),
        .optional(
            "domainHint", \.domainHint, "Tenant or domain, to skip a page of the provider.", .text(atMost: 512)),
        .optional("prompt", \.prompt, "How the person is prompted; absent leaves it to the provider."),
        .defaulted(
            "extraScopesToConsent", \.extraScopesToConsent,
            "Scopes to consent to at the same time; the token need not have them.", to: [],
            .each(.scope, atMost: 100)),
        .defaulted(
            "extraQueryParameters", \.extraQueryParameters,
            "Added to the authorization request; names the broker sets itself are refused.", to: [:], .query),
        .optional(
            "maxAge", \.maxAge,
            "The maximum age of the person's authentication in seconds; if older, they are asked again.",
            .between(0...315_360_000)),
        .defaulted(
            "acrValues", \.acrValues,
            "How they authenticate, in order of preference (authentication context class references).", to: [],
            .each(.word(atMost: 512), atMost: 16)),
        .defaulted(
            "strictLoginHint", \.isHintBinding,
            "True refuses any username other than loginHint, with mismatchedUser.", to: false),
        .defaulted(
            "pushedAuthorization", \.pushesAuthorization,
            "True pushes the request before the browser opens (RFC 9126), even if the provider does not require it.",
            to: false),
        .optional(
            "redirectUri", \.redirectURI, "Replaces the app's registered redirect URI.",
            .text(atMost: 2048)),
        .defaulted("presentation", \.presentation, "The process that opens the browser.", to: .client),
        .defaulted(
            "timeout", \.timeout, "Seconds the person has.", to: defaultTimeout,
            .between(1...3600)),
    ]
}

import BrokerValues

package enum AcquireTokenInteractive: BrokerMethod {
    package static let name = "token.acquireInteractive"
    package static let summary = "A token, with the person signing in or consenting in a browser."
    package static let description = """
        Authorization code with PKCE (RFC 8252, RFC 7636). With presentation "client" the broker sends the notification \
        interaction.open on this connection, and the client opens its url; with "broker" the broker opens it. The answer \
        comes when the person is done, cancels, or the time is over. Requests that ask the same share one window: those \
        that join are told interaction.joined, and all are answered alike. A connection that ends leaves; the sign-in ends \
        with the last that waits.
        """
    package static let permission = Permission.app
    package static let errors: [ErrorKind] = [
        .userCanceled, .timedOut, .serverDeclinedScopes, .mismatchedUser, .interactionRequired, .offline,
        .serverUnavailable, .accountNotFound, .appNotFound, .accessDenied, .invalidScope, .invalidClient,
        .invalidAuthority, .unauthorizedClient, .invalidResponse, .unsupported,
    ]
    package static let resultName = "token"
    package typealias Result = Token

    package static let defaultTimeout: Int64 = 300

    package struct Params: TokenParams {
        package var app: String?
        package var clientId: String?
        package var authority: String?
        package var scopes: [String] = []
        package var account: AccountReference?
        package var claims: ClaimsRequest?
        package var minimumLifetime: Int64?
        package var tokenType = TokenType.bearer
        package var resource: ResourceList?
        package var clientCapabilities: [String] = []
        package var instanceAware: Bool?
        package var correlationId: String?
        package var loginHint: String?
        package var domainHint: String?
        package var prompt: Prompt?
        package var extraScopesToConsent: [String] = []
        package var extraQueryParameters: [String: String] = [:]
        package var maxAge: Int64?
        package var acrValues: [String] = []
        package var strictLoginHint = false
        package var pushedAuthorization = false
        package var redirectUri: String?
        package var presentation = Presentation.client
        package var timeout = AcquireTokenInteractive.defaultTimeout

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
            tokenMembers(paths, account: "Who must sign in; somebody else is refused with mismatchedUser.") + [
                .optional("loginHint", \.loginHint, "Username to fill in for the person.", .text(atMost: 512)),
                .optional(
                    "domainHint", \.domainHint, "Tenant or domain, to skip a page of the provider.", .text(atMost: 512)),
                .optional("prompt", \.prompt, "How the person is asked; absent leaves it to the provider."),
                .defaulted(
                    "extraScopesToConsent", \.extraScopesToConsent,
                    "Scopes to consent to in the same go; the token need not have them.", to: [],
                    .each(.scope, atMost: 100)),
                .defaulted(
                    "extraQueryParameters", \.extraQueryParameters,
                    "Added to the authorization request; names the broker sets itself are refused.", to: [:], .query),
                .optional(
                    "maxAge", \.maxAge,
                    "Seconds since the person last proved who they are; older, and they are asked again.",
                    .between(0...315_360_000)),
                .defaulted(
                    "acrValues", \.acrValues,
                    "How they are to prove it, best first (authentication context class references).", to: [],
                    .each(.word(atMost: 512), atMost: 16)),
                .defaulted(
                    "strictLoginHint", \.strictLoginHint,
                    "True refuses whoever has another username than loginHint, with mismatchedUser.", to: false),
                .defaulted(
                    "pushedAuthorization", \.pushedAuthorization,
                    "True hands the request in before the browser opens (RFC 9126), where the provider does not demand it.",
                    to: false),
                .optional(
                    "redirectUri", \.redirectUri, "Another one than the app's registered redirect URI.",
                    .text(atMost: 2048)),
                .defaulted("presentation", \.presentation, "Who opens the browser.", to: .client),
                .defaulted(
                    "timeout", \.timeout, "Seconds the person has.", to: AcquireTokenInteractive.defaultTimeout,
                    .between(1...3600)),
            ]
    }
}

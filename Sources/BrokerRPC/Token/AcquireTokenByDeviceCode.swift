import BrokerValues

package enum AcquireTokenByDeviceCode: BrokerMethod {
    package static let name = "token.acquireByDeviceCode"
    package static let summary = "A token, with the person signing in on another device."
    package static let description = """
        RFC 8628. The broker sends the notification interaction.deviceCode on this connection, and the client shows its \
        code and address to the person. The answer comes when the person is done or declines, when the code is no longer \
        good, or when interaction.cancel ends the wait. Closing the connection cancels.
        """
    package static let permission = Permission.app
    package static let errors: [ErrorKind] = [
        .userCanceled, .timedOut, .serverDeclinedScopes, .offline, .serverUnavailable, .appNotFound, .accessDenied,
        .invalidScope, .invalidClient, .invalidAuthority, .unauthorizedClient, .invalidResponse, .unsupported,
    ]
    package static let resultName = "token"
    package typealias Result = Token

    package struct Params: AppSelecting, CorrelatedParams {
        package var app: String?
        package var clientId: String?
        package var authority: String?
        package var scopes: [String] = []
        package var claims: ClaimsRequest?
        package var tokenType = TokenType.bearer
        package var resource: ResourceList?
        package var clientCapabilities: [String] = []
        package var timeout: Int64?
        package var correlationId: String?

        package init() {}

        package init(_ selection: AppSelection, scopes: [String]) {
            self.scopes = scopes
            select(selection)
        }

        package static let members: [Member<Params>] =
            appMembers(\.app, \.clientId, \.authority, authority: overridableAuthority) + [
                .required(
                    "scopes", \.scopes,
                    "What the token must be good for. The broker adds openid, profile and offline_access itself.",
                    .each(.scope, atMost: 100)),
                .optional(
                    "claims", \.claims,
                    "Claims request (OpenID Connect Core, section 5.5), as an object or as its JSON text."),
                .defaulted(
                    "tokenType", \.tokenType, "How the API takes the token: RFC 6750 or RFC 9449.", to: .bearer),
                .optional(
                    "resource", \.resource,
                    "Where the token must be good: an absolute URI, or several (RFC 8707)."),
                .defaulted(
                    "clientCapabilities", \.clientCapabilities,
                    "What the app can deal with, such as cp1 (claims challenges); goes into the claims request.",
                    to: [], .each(.word(atMost: 64), atMost: 16)),
                .optional(
                    "timeout", \.timeout, "Seconds the person has; the code's own lifetime ends the wait, too.",
                    .between(1...3600)),
                .optional(
                    "correlationId", \.correlationId,
                    "Ties the request to logs, here and at the provider; made when absent.", .correlationID),
            ]

        package func check() throws(WireError) {
            try checkSelection(isRequired: true, authorityMayStandBesideApp: true)
        }
    }
}

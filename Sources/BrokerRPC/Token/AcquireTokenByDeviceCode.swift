import BrokerValues

package enum AcquireTokenByDeviceCode: AppMethod {
    package static let name = "token.acquireByDeviceCode"
    package static let summary = "A token, with the person signing in on another device."
    package static let description = """
        RFC 8628. The broker sends the notification interaction.deviceCode on this connection, and the client shows its \
        code and URL to the person. The answer comes when the person is done or declines, when the code \
        expires, or when interaction.cancel ends the wait. Closing the connection cancels.
        """
    package static let right: SandboxRight? = .interactive
    package static let addsRecords = true
    package static let errors: [ErrorKind] = [
        .userCanceled, .timedOut, .serverDeclinedScopes, .mismatchedUser, .offline, .serverUnavailable,
        .accountNotFound, .ambiguousAccount, .appNotFound, .accessDenied, .grantRequired, .invalidScope,
        .invalidClient, .invalidAuthority, .unauthorizedClient, .invalidResponse, .unsupported,
        .throttled,
    ]
    package static let resultName = "token"
    package typealias Result = Token

    package struct Params: TokenParams {
        package var selection = AppSelection()
        package var query = TokenQuery()
        package var timeout: Int64?
        package var waitForGrant: Int64?
        package var correlationId: String?

        package init() {}

        package static let members: [Member<Params>] =
            appMembers(\.selection) + TokenQuery.members.inside(\.query) + [
                .optional(
                    "timeout", \.timeout, "Seconds the person has; the code's own lifetime ends the wait, too.",
                    .between(1...3600)),
                .defaulted(
                    "extraQueryParameters", \.query.extraParameters,
                    "Added to the request for the code; names the broker sets itself are refused.", to: [:], .query),
                waitingMember, .correlationID(\.correlationId),
            ]
    }
}

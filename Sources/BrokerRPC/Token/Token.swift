import BrokerValues

/// The token that an app receives (protocol.md, `Token`). It never contains a refresh token.
package struct Token: MessageObject {
    package var accessToken = ""
    package var tokenType = TokenType.bearer
    package var expiresOn: NumericDate = 0
    package var extendedExpiresOn: NumericDate?
    package var scopes: [String] = []
    package var account = Account()
    package var idToken: String?
    package var authority = ""
    package var correlationId = ""
    package var authorizationHeader = ""
    package var fromCache = false
    package var extendedLifetime = false
    package var persisted = true
    package var rejected = false
    package var renewable = true
    package var watch: String?

    package init() {}

    package static let componentName: String? = "Token"
    package static let members: [Member<Token>] = [
        .required("accessToken", \.accessToken, "For the API; opaque to the app."),
        .required("tokenType", \.tokenType, "How the API takes it."),
        .required("expiresOn", \.expiresOn, "Seconds since 1970."),
        .optional(
            "extendedExpiresOn", \.extendedExpiresOn,
            "Seconds since 1970; until then the token may be used while the provider is down."),
        .required("scopes", \.scopes, "The granted scopes; there may be more than requested."),
        .required("account", \.account, "The account of the token."),
        .optional("idToken", \.idToken, "The ID token as received, verified by the broker."),
        .required("authority", \.authority, "The URL of its issuer."),
        .required("correlationId", \.correlationId, "The request's correlation id."),
        .required("authorizationHeader", \.authorizationHeader, "Value of the HTTP header Authorization."),
        .required("fromCache", \.fromCache, "True when no provider was asked."),
        .required(
            "extendedLifetime", \.extendedLifetime, "True for an expired token, given because the provider is down."),
        .required("persisted", \.persisted, "False while it is not on disk: the token is valid nevertheless."),
        .defaulted(
            "rejected", \.rejected,
            "True if it is the token in rejectedToken: no other is available at the moment.",
            to: false),
        .defaulted(
            "renewable", \.renewable,
            "False after a sign-in without a refresh token: when this token expires, the person must sign in again.",
            to: true),
        .optional(
            "watch", \.watch,
            "Only of token.watch: names the watch in its events, and to token.unwatch, on this connection."),
    ]
}

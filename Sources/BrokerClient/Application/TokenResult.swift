import BrokerRPC
import FoundationEssentials

/// A token and its account (MSAL: `MSALResult`).
///
/// Printing a result shows no token. There is no refresh token: it never leaves the broker.
public struct TokenResult: Sendable {
    /// The token for the API, as ``authorizationHeader`` or by itself. Opaque to the app: do not parse it.
    public let accessToken: String
    /// The type of the token.
    public let authenticationScheme: AuthenticationScheme
    /// When the access token expires.
    public let expiresOn: Date
    /// Until when the token may be used while the provider is down, if the provider allows that.
    public let extendedExpiresOn: Date?
    /// The granted scopes; there may be more than requested.
    public let scopes: [String]
    /// The account of the token.
    public let account: Account
    /// The account in the tenant that the token is for.
    public let tenantProfile: TenantProfile
    /// The ID token as received and verified by the broker.
    public let idToken: String?
    /// The issuer of the token.
    public let authority: String
    /// The request's id in the logs of broker and provider.
    public let correlationId: String
    /// The value of the HTTP header `Authorization` (MSAL: `authorizationHeader`).
    public let authorizationHeader: String
    /// True if the provider was not asked.
    public let isFromCache: Bool
    /// True for an expired token that is returned because the provider is down and allows it.
    public let isExtendedLifetime: Bool
    /// False if the broker could not write the token to disk; it is valid nevertheless.
    public let isPersisted: Bool

    init(_ token: Token) {
        accessToken = token.accessToken
        authenticationScheme = AuthenticationScheme(token.tokenType)
        expiresOn = Date(timeIntervalSince1970: TimeInterval(token.expiresOn))
        extendedExpiresOn = token.extendedExpiresOn.map { Date(timeIntervalSince1970: TimeInterval($0)) }
        scopes = token.scopes
        account = Account(token.account)
        tenantProfile =
            account.tenantProfiles.first { $0.authority == token.authority } ?? account.tenantProfiles.first
            ?? TenantProfile(account)
        idToken = token.idToken
        authority = token.authority
        correlationId = token.correlationId
        authorizationHeader = token.authorizationHeader
        isFromCache = token.fromCache
        isExtendedLifetime = token.extendedLifetime
        isPersisted = token.persisted
    }
}

extension TokenResult: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Scopes, expiry and correlation id; no token, no name.
    public var description: String {
        "TokenResult(scopes: \(scopes.joined(separator: " ")), expiresOn: \(expiresOn), correlationId: \(correlationId))"
    }

    /// Equal to ``description``.
    public var debugDescription: String { description }

    /// Without children: `dump` and test reports walk these and must not show a token.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

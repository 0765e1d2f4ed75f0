import BrokerRPC
import BrokerValues

/// The parameters of a sign-in on another device (RFC 8628): for machines without a browser, and for ssh.
public struct DeviceCodeParameters: Sendable {
    /// The scopes of the token (RFC 6749, section 3.3). The broker adds `openid`, `profile` and `offline_access`; an app that
    /// names one of these gets ``BrokerClientError/Code/invalidParameter``.
    public var scopes: [String]
    /// Another authority of the same kind, for this request only, such as a tenant where the person is a guest.
    public var authority: String?
    /// A claims request (OpenID Connect Core, section 5.5) or the claims of a challenge, as JSON or in base64.
    public var claimsRequest: String?
    /// The resources that the token is for: absolute URIs (RFC 8707). An empty list leaves it to the scopes.
    public var resources: [String] = []
    /// The type of the token.
    public var authenticationScheme = AuthenticationScheme.bearer
    /// The seconds that the person has, from 1 to 3600; if omitted, as long as the provider keeps the code.
    public var timeout: Int?
    /// Further parameters of the request for the code.
    public var extraQueryParameters: [String: String] = [:]
    /// Connects the logs of app, broker and provider. A UUID; a new one is made if omitted.
    public var correlationId: String?

    /// Creates a request for any account.
    ///
    /// - Parameter scopes: the scopes of the token.
    public init(scopes: [String]) { self.scopes = scopes }
}

/// The data that the person needs to sign in on another device. Show it to the person only.
public struct DeviceCode: Sendable, Hashable {
    /// The code that the person types (`user_code`; RFC 8628, section 3.2).
    public let userCode: String
    /// The page on which the person types it, on any device (`verification_uri`).
    public let verificationUri: String
    /// The URL with the code in it, for a link or a QR code, if the provider gives one (`verification_uri_complete`).
    public let verificationUriComplete: String?
    /// When the code expires, in seconds since 1970.
    public let expiresOn: Int64
    /// The instruction for the person, in one sentence; the provider's own text, if it sends one.
    public let message: String
    /// Identifies this sign-in to the broker.
    public let interactionId: String
    /// The request's id in all logs.
    public let correlationId: String

    init(_ params: DeviceCodeOpening) {
        userCode = params.userCode
        verificationUri = params.verificationURI
        verificationUriComplete = params.verificationURIComplete
        expiresOn = params.expiresOn
        message = params.message
        interactionId = params.interactionID
        correlationId = params.correlationID
    }
}

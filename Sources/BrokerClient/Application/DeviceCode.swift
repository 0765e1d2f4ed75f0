import BrokerRPC
import BrokerValues

/// A request to sign in on another device (RFC 8628): for machines without a browser, and for ssh.
public struct DeviceCodeParameters: Sendable {
    /// What the token shall allow. `openid`, `profile` and `offline_access` are added by the broker and refused here.
    public var scopes: [String]
    /// Another authority of the same kind, for this request only, such as a tenant where the person is a guest.
    public var authority: String?
    /// A claims request or the claims of a challenge, as JSON or in base64.
    public var claimsRequest: String?
    /// Where the token shall be good: absolute URIs (RFC 8707). None leaves it to the scopes.
    public var resources: [String] = []
    /// How the API takes the token.
    public var authenticationScheme = AuthenticationScheme.bearer
    /// Seconds the person has; without it, as long as the provider keeps the code.
    public var timeout: Int?
    /// Further parameters of the request for the code.
    public var extraQueryParameters: [String: String] = [:]
    /// Ties the logs of app, broker and provider together. A UUID; a new one is made when it is left out.
    public var correlationId: String?

    /// A request.
    ///
    /// - Parameter scopes: what the token shall allow.
    public init(scopes: [String]) { self.scopes = scopes }
}

/// What the person needs in order to sign in on another device. Show it to the person and to nobody else.
public struct DeviceCode: Sendable, Hashable {
    /// What the person types.
    public let userCode: String
    /// Where they type it, on any device.
    public let verificationUri: String
    /// The same address with the code in it, for a link or a QR code, where the provider gives one.
    public let verificationUriComplete: String?
    /// Seconds since 1970: when the code is no longer good.
    public let expiresOn: Int64
    /// What to do, in one sentence for the person; in the provider's words, where it has some.
    public let message: String
    /// Names this sign-in to the broker.
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

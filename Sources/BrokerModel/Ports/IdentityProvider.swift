import BrokerValues

/// An OAuth 2 authorization server and OpenID provider, as the engine uses it.
package protocol IdentityProvider: Sendable {
    /// Discovery (OpenID Connect Discovery 1.0, section 4), from the cache when it is fresh.
    func metadata(of authority: Authority) async throws(ProviderError) -> ProviderMetadata

    /// The URL the person's browser opens (RFC 6749, section 4.1.1; RFC 7636; OpenID Connect Core, section 3.1.2.1).
    func authorizationURL(_ request: AuthorizationRequest, at metadata: ProviderMetadata) -> String

    /// Hands the authorization request in beforehand (RFC 9126).
    ///
    /// - Returns: what ``authorizationURL(of:as:at:)`` makes the browser's URL of.
    func push(
        _ request: AuthorizationRequest, as client: ClientCredentials, at metadata: ProviderMetadata
    ) async throws(ProviderError) -> PushedAuthorization

    /// The URL the person's browser opens after ``push(_:as:at:)`` (RFC 9126, section 4).
    func authorizationURL(
        of pushed: PushedAuthorization, as clientID: String, at metadata: ProviderMetadata
    ) -> String

    /// Begins a sign-in on another device (RFC 8628, section 3.1).
    func authorizeDevice(
        _ request: DeviceAuthorizationRequest, as client: ClientCredentials, at metadata: ProviderMetadata
    ) async throws(ProviderError) -> DeviceAuthorization

    /// One attempt at the token endpoint; it is never repeated by the provider layer, except when the provider refused
    /// it for the want of a nonce (RFC 9449, section 8).
    func redeem(
        _ grant: TokenGrant, with extras: TokenRequestExtras, as client: ClientCredentials,
        at metadata: ProviderMetadata
    ) async throws(ProviderError) -> TokenResponse

    /// Asks whom an access token is for (OpenID Connect Core, section 5.3).
    ///
    /// - Parameter key: what the token is bound to, if it is.
    func userInfo(
        with accessToken: Secret, _ type: TokenType, provenBy key: ProofKey?, at metadata: ProviderMetadata
    ) async throws(ProviderError) -> UserInfo

    /// Revokes a token at the provider (RFC 7009).
    func revoke(
        _ token: Secret, _ kind: RevocableToken, as client: ClientCredentials, at metadata: ProviderMetadata
    ) async throws(ProviderError)

    /// The page that ends the browser's session (OpenID Connect RP-Initiated Logout 1.0); nil when there is none.
    func endSessionURL(_ request: EndSessionRequest, at metadata: ProviderMetadata) -> String?

    /// Makes a client at the provider (RFC 7591).
    func register(
        _ request: ClientRegistrationRequest, at metadata: ProviderMetadata
    ) async throws(ProviderError) -> RegisteredClient

    /// Signature against the JWKS, then `iss`, `aud`, `azp`, `exp`, `iat`, `nonce`, `at_hash` (OpenID Connect Core, section
    /// 3.1.3.7).
    func verify(
        idToken: Secret, against expectation: IDTokenExpectation, at metadata: ProviderMetadata
    ) async throws(ProviderError) -> IDTokenClaims
}

/// What discovery says (RFC 8414, section 2).
@dynamicMemberLookup
package struct ProviderMetadata: Sendable, Equatable {
    package struct Fields: Sendable, Equatable {
        package var authority: Authority
        package var issuer: String
        package var authorizationEndpoint: String
        package var tokenEndpoint: String
        package var jwksURI: String
        /// Nil where it is not the issuer's own, known or named by the administrator.
        package var userinfoEndpoint: String?
        package var endSessionEndpoint: String?
        package var revocationEndpoint: String?
        package var deviceAuthorizationEndpoint: String?
        /// RFC 9126.
        package var pushedAuthorizationRequestEndpoint: String?
        package var requiresPushedAuthorization = false
        /// RFC 7591.
        package var registrationEndpoint: String?
        /// RFC 9449, section 5.1; nil when the provider does not say that it knows DPoP.
        package var dpopAlgorithms: [String]?
        /// Takes a proof for bearer tokens, too, and binds the refresh token to the key (decision 165).
        package var bindsRefreshTokens = false
        /// How a token's destination is called in requests: `resource` (RFC 8707), or what the provider had before the
        /// standard, such as `audience`.
        package var resourceParameter = "resource"
        /// RFC 9207: an answer without `iss` is then refused.
        package var promisesIssuerInResponse: Bool
        package var tokenEndpointAuthMethods: [String]
        /// Nil when the provider does not say.
        package var scopesSupported: [String]?
        /// Whether `offline_access` is asked for, as the administrator says; nil leaves it to the rest.
        package var takesOfflineAccess: Bool?
        /// Refresh tokens may come only with `prompt=consent`, although nobody asks for `offline_access`.
        package var refreshTokenMayTakeConsent = false
        /// Whether the browser can bring the answer in a form (OAuth 2.0 Form Post Response Mode).
        package var offersFormPost = false
        /// How ID tokens may be signed; nil when the provider does not say.
        package var idTokenAlgorithms: [String]?
    }

    /// One reference: it goes through all that a request to the provider does.
    private final class Shared: Sendable {
        let fields: Fields

        init(_ fields: Fields) { self.fields = fields }
    }

    private var shared: Shared

    package static func == (left: ProviderMetadata, right: ProviderMetadata) -> Bool {
        left.shared === right.shared || left.shared.fields == right.shared.fields
    }

    package subscript<Value>(dynamicMember path: WritableKeyPath<Fields, Value>) -> Value {
        get { shared.fields[keyPath: path] }
        set {
            var fields = shared.fields
            fields[keyPath: path] = newValue
            shared = Shared(fields)
        }
    }

    package init(
        authority: Authority, issuer: String, authorizationEndpoint: String, tokenEndpoint: String, jwksURI: String,
        userinfoEndpoint: String? = nil, endSessionEndpoint: String? = nil, revocationEndpoint: String? = nil,
        deviceAuthorizationEndpoint: String? = nil, promisesIssuerInResponse: Bool = false,
        tokenEndpointAuthMethods: [String] = ["client_secret_basic"]
    ) {
        shared = Shared(
            Fields(
                authority: authority, issuer: issuer, authorizationEndpoint: authorizationEndpoint,
                tokenEndpoint: tokenEndpoint, jwksURI: jwksURI, userinfoEndpoint: userinfoEndpoint,
                endSessionEndpoint: endSessionEndpoint, revocationEndpoint: revocationEndpoint,
                deviceAuthorizationEndpoint: deviceAuthorizationEndpoint,
                promisesIssuerInResponse: promisesIssuerInResponse, tokenEndpointAuthMethods: tokenEndpointAuthMethods))
    }
}

package struct AuthorizationRequest: Sendable {
    package var clientID: String
    package var redirectURI: String
    /// With the reserved scopes already added.
    package var scopes: Scopes
    package var state: String
    package var nonce: String
    /// RFC 7636, S256.
    package var codeChallenge: String
    package var correlationID: String
    package var prompt: Prompt?
    /// Also with consent, on top of the prompt.
    package var asksConsent = false
    package var loginHint: String?
    /// Who is meant, where the provider must not ask: an ID token of theirs (OpenID Connect Core, section 3.1.2.1).
    package var idTokenHint: Secret?
    package var domainHint: String?
    package var claims: String?
    /// Seconds since the person last proved who they are (OpenID Connect Core, section 3.1.2.1).
    package var maxAge: Int64?
    package var acrValues: [String] = []
    /// Where the token shall be good (RFC 8707, section 2).
    package var resources: [String] = []
    /// Thumbprint of the key that the code will be redeemed with (RFC 9449, section 10).
    package var proofKeyThumbprint: String?
    /// Entra: asks for `client_info`.
    package var asksClientInfo = false
    /// Entra: the person may belong to another cloud (`instance_aware`).
    package var isInstanceAware = false
    /// The browser brings the answer in a form, and not in an address.
    package var asksForForm = false
    package var extraQueryParameters: [String: String] = [:]
    /// Of the app's registration: what the request itself says comes first.
    package var registeredParameters: [String: String] = [:]

    package init(
        clientID: String, redirectURI: String, scopes: Scopes, state: String, nonce: String, codeChallenge: String,
        correlationID: String
    ) {
        self.clientID = clientID
        self.redirectURI = redirectURI
        self.scopes = scopes
        self.state = state
        self.nonce = nonce
        self.codeChallenge = codeChallenge
        self.correlationID = correlationID
    }
}

extension AuthorizationRequest {
    /// The parameter `prompt` (OpenID Connect Core, section 3.1.2.1).
    package var prompts: String? {
        let all = [prompt, asksConsent && prompt != .consent ? .consent : nil].compactMap { $0?.rawValue }
        return all.isEmpty ? nil : all.joined(separator: " ")
    }
}

package struct ClientCredentials: Sendable {
    package var clientID: String
    package var secret: Secret?
    /// Nil goes by the provider's metadata.
    package var method: ClientSecretMethod?

    package init(clientID: String, secret: Secret? = nil, method: ClientSecretMethod? = nil) {
        self.clientID = clientID
        self.secret = secret
        self.method = method
    }
}

package enum TokenGrant: Sendable {
    /// RFC 6749, section 4.1.3, with the verifier of RFC 7636.
    case authorizationCode(Secret, verifier: Secret, redirectURI: String)
    /// RFC 6749, section 6.
    case refreshToken(Secret, scopes: Scopes)
    /// RFC 8628, section 3.4.
    case deviceCode(Secret)
}

/// A successful answer of the token endpoint (RFC 6749, section 5.1).
package struct TokenResponse: Sendable {
    package var accessToken: Secret
    package var tokenType: TokenType
    /// Seconds; nil when the provider does not say.
    package var expiresIn: Int64?
    package var extendedExpiresIn: Int64?
    package var refreshIn: Int64?
    package var refreshToken: Secret?
    package var idToken: Secret?
    /// Nil means: as asked.
    package var scope: String?
    package var familyID: String?
    package var clientInfo: String?

    package init(
        accessToken: Secret, tokenType: TokenType = .bearer, expiresIn: Int64? = nil, extendedExpiresIn: Int64? = nil,
        refreshIn: Int64? = nil, refreshToken: Secret? = nil, idToken: Secret? = nil, scope: String? = nil,
        familyID: String? = nil, clientInfo: String? = nil
    ) {
        self.accessToken = accessToken
        self.tokenType = tokenType
        self.expiresIn = expiresIn
        self.extendedExpiresIn = extendedExpiresIn
        self.refreshIn = refreshIn
        self.refreshToken = refreshToken
        self.idToken = idToken
        self.scope = scope
        self.familyID = familyID
        self.clientInfo = clientInfo
    }
}

package struct IDTokenExpectation: Sendable {
    package var clientID: ExactText
    /// Nil on refresh, where a provider may leave the nonce out (OpenID Connect Core, section 12.2).
    package var nonce: ExactText?
    /// Whether a person has just signed in; false on refresh. Keys that cannot be had anew serve no sign-in.
    package var isSignIn = true
    /// The ID token that the sign-in began with, on refresh: a nonce that is there must be the same.
    package var earlier: Secret?
    /// What came along; `at_hash` must be its hash if it is there (OpenID Connect Core, section 3.1.3.8). Nil on refresh,
    /// where a provider may bring an access token that it gave before.
    package var accessToken: Secret?
    /// Of a confidential client: some providers sign with it (OpenID Connect Core, section 10.1).
    package var clientSecret: Secret?

    package init(clientID: String, nonce: String?) {
        self.clientID = ExactText(clientID)
        self.nonce = nonce.map { ExactText($0) }
    }
}

/// The claims of a verified ID token.
package struct IDTokenClaims: Sendable, Equatable {
    package var issuer: ExactText
    package var subject: ExactText
    package var all: JSONObject

    package init(issuer: ExactText, subject: ExactText, all: JSONObject) {
        self.issuer = issuer
        self.subject = subject
        self.all = all
    }

    package subscript(name: String) -> String? { all[name]?.stringValue }
}

/// Why the provider did not give what was asked. Texts hold no token and no query. One reference, as ``BrokerValues/BrokerError``.
package indirect enum ProviderError: Error, Sendable, Equatable {
    /// No answer, and the request had not left: no route, no name, refused, TLS failed. Sending again is safe.
    case offline(String)
    /// As ``offline(_:)``, by a proxy that goes on saying so until somebody does something about it.
    case refusedByProxy(String)
    /// The request may have arrived; nobody knows what became of it (time-out, connection lost).
    case outcomeUnknown(String)
    /// 5xx or 429. `retryAfter` in seconds.
    case unavailable(status: Int, retryAfter: Int?, String)
    /// An answer that is not what the standard says: HTML, no JSON, too large, a field missing, a bad signature.
    case invalidResponse(status: Int?, String)
    /// The same of a token answer whose refresh token could be read. The one that was sent may be spent, so this one must
    /// be kept.
    case unusableTokens(RejectedTokenResponse)
    /// The provider's error answer (RFC 6749, section 5.2).
    case refused(OAuthRefusal)
    /// A 400 without a body when a refresh token was sent. Real providers answer so for a dead one, and gateways in front
    /// of a provider whenever they are in trouble.
    case refusedWithoutReason(status: Int, String)
    /// The server certificate could not be verified.
    case untrusted(String)
    /// The provider's metadata names no endpoint, or no form of it, for this.
    case notOffered(String)
}

/// What is left of a token answer that cannot be used.
package struct RejectedTokenResponse: Sendable, Equatable {
    package var refreshToken: Secret
    /// As the answer names it; nil when it names none that the broker knows.
    package var tokenType: TokenType?
    package var status: Int
    /// For a person: what is wrong with the answer.
    package var message: String

    package init(refreshToken: Secret, tokenType: TokenType?, status: Int, message: String) {
        self.refreshToken = refreshToken
        self.tokenType = tokenType
        self.status = status
        self.message = message
    }
}

package struct OAuthRefusal: Sendable, Equatable {
    package var error: String
    package var subError: String?
    package var description: String?
    /// The HTTP status; nil when the refusal came back through the browser.
    package var status: Int?
    package var claims: String?
    package var errorCodes: [Int64]
    /// Seconds, where the provider said how long to wait.
    package var retryAfter: Int?
    /// Whether the same request had failed a moment before, when the provider may have done it all the same.
    package var isOfSecondTry = false

    package init(
        error: String, subError: String? = nil, description: String? = nil, status: Int?, claims: String? = nil,
        errorCodes: [Int64] = []
    ) {
        self.error = error
        self.subError = subError
        self.description = description
        self.status = status
        self.claims = claims
        self.errorCodes = errorCodes
    }
}

extension OAuthRefusal: CustomDebugStringConvertible {
    /// For logs, as the payload of an error: what the provider wrote for people may say who they are.
    package var debugDescription: String {
        let codes = [error] + [subError].compactMap(\.self) + errorCodes.map { String($0) }
        return codes.joined(separator: " ") + (status.map { " (status \($0))" } ?? "")
    }
}

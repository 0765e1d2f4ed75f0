/// The result of discovery (RFC 8414, section 2).
@dynamicMemberLookup
package struct ProviderMetadata: Sendable, Equatable {
    package struct Fields: Sendable, Equatable {
        package var authority: Authority
        package var issuer: String
        package var authorizationEndpoint: String
        package var tokenEndpoint: String
        package var jwksURI: String
        /// `nil` unless it is the issuer's own, known or named by the administrator.
        package var userinfoEndpoint: String?
        package var endSessionEndpoint: String?
        package var revocationEndpoint: String?
        package var deviceAuthorizationEndpoint: String?
        /// RFC 9126.
        package var pushedAuthorizationRequestEndpoint: String?
        package var requiresPushedAuthorization = false
        /// RFC 7591.
        package var registrationEndpoint: String?
        /// RFC 9449, section 5.1; `nil` if the provider does not announce DPoP.
        package var dpopAlgorithms: [String]?
        /// Accepts a proof for bearer tokens, too, and binds the refresh token to the key (decision 14).
        package var bindsRefreshTokens = false
        /// The request parameter for a token's resource: `resource` (RFC 8707), or a name from before the standard, such as
        /// `audience`.
        package var resourceParameter = "resource"
        /// RFC 9207: a response without `iss` is then refused.
        package var promisesIssuerInResponse: Bool
        package var tokenEndpointAuthMethods: [String]
        /// `nil` if the provider does not list them.
        package var scopesSupported: [String]?
        /// Whether requests ask for `offline_access`, if the administrator sets it; `nil` uses the other rules.
        package var takesOfflineAccess: Bool?
        /// Refresh tokens may require `prompt=consent`, even without a request for `offline_access`.
        package var refreshTokenMayTakeConsent = false
        /// Whether the browser can deliver the response as a form (OAuth 2.0 Form Post Response Mode).
        package var offersFormPost = false
        /// The signing algorithms of ID tokens; `nil` if the provider does not list them.
        package var idTokenAlgorithms: [String]?
    }

    /// One reference: it is passed through every step of a provider request.
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

    /// Whether the token endpoint is on the authority's own host.
    package var isTokenEndpointOwn: Bool { self.authority.isHost(of: self.tokenEndpoint) }

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

import BrokerValues

/// The members of a discovery document that the broker uses (OpenID Connect Discovery 1.0, section 3; RFC 8414,
/// section 2), not yet validated. The rest, which may be large, is not kept.
struct DiscoveryDocument: Sendable {
    let issuer: String?
    /// Keyed by the standards' names, such as `token_endpoint`; `jwks_uri` is one of them.
    let endpoints: [String: String]
    let promisesIssuerInResponse: Bool
    let requiresPushedAuthorization: Bool
    let tokenEndpointAuthMethods: [String]?
    let dpopAlgorithms: [String]?
    let scopesSupported: [String]?
    let idTokenAlgorithms: [String]?
    let responseModes: [String]?

    init(_ document: JSONObject) {
        func flag(_ name: String) -> Bool { document[name]?.boolValue ?? false }
        issuer = document["issuer"]?.stringValue
        endpoints = document.reduce(into: [:]) { endpoints, member in
            guard member.key.hasSuffix("_endpoint") || member.key == "jwks_uri" else { return }
            endpoints[member.key] = member.value.stringValue
        }
        promisesIssuerInResponse = flag("authorization_response_iss_parameter_supported")
        requiresPushedAuthorization = flag("require_pushed_authorization_requests")
        tokenEndpointAuthMethods = document["token_endpoint_auth_methods_supported"]?.strings
        dpopAlgorithms = document["dpop_signing_alg_values_supported"]?.strings
        scopesSupported = document["scopes_supported"]?.strings
        responseModes = document["response_modes_supported"]?.strings
        idTokenAlgorithms = document["id_token_signing_alg_values_supported"]?.strings
    }
}

import BrokerModel
import BrokerValues

/// Makes ``ProviderMetadata`` from a discovery document, or says what is wrong with it.
enum MetadataReader {
    static func metadata(
        in document: DiscoveryDocument, of authority: Authority, completedBy completion: MetadataOverride
    ) throws(ProviderError) -> ProviderMetadata {
        let endpoints = document.endpoints.merging(completion.endpoints) { $1 }
        let issuer = try issuer(in: document, of: authority)
        let rule = EndpointRule(authority: authority)
        func required(_ name: String) throws(ProviderError) -> String {
            guard let text = endpoints[name] else {
                throw invalid(authority, "names no \(name)")
            }
            guard let url = rule.accepted(text) else {
                throw invalid(authority, "names a \(name) that is not an https URL")
            }
            return url.text
        }
        // An invalid optional endpoint is ignored; it does not prevent sign-ins.
        func optional(_ name: String) -> String? {
            endpoints[name].flatMap { rule.accepted($0)?.text }
        }
        var metadata = ProviderMetadata(
            authority: authority,
            issuer: issuer,
            authorizationEndpoint: try required("authorization_endpoint"),
            tokenEndpoint: try required("token_endpoint"),
            jwksURI: try required("jwks_uri"),
            userinfoEndpoint: optional("userinfo_endpoint"),
            endSessionEndpoint: optional("end_session_endpoint"),
            revocationEndpoint: optional("revocation_endpoint"),
            deviceAuthorizationEndpoint: optional("device_authorization_endpoint"),
            promisesIssuerInResponse: document.promisesIssuerInResponse,
            tokenEndpointAuthMethods: document.tokenEndpointAuthMethods ?? ["client_secret_basic"])
        metadata.pushedAuthorizationRequestEndpoint = optional("pushed_authorization_request_endpoint")
        metadata.requiresPushedAuthorization = document.requiresPushedAuthorization
        metadata.registrationEndpoint = optional("registration_endpoint")
        metadata.dpopAlgorithms = document.dpopAlgorithms
        metadata.scopesSupported = document.scopesSupported
        metadata.offersFormPost = document.responseModes?.contains("form_post") == true
        metadata.idTokenAlgorithms = document.idTokenAlgorithms
        let known = KnownProviders.habits(at: authority.environment)
        if let name = completion.resourceParameter ?? known?.resourceParameter { metadata.resourceParameter = name }
        metadata.refreshTokenMayTakeConsent = known?.refreshTokenTakesConsent == true
        metadata.bindsRefreshTokens = known?.bindsRefreshTokens == true
        metadata.takesOfflineAccess = completion.takesOfflineAccess
        try check(EndpointHosts(authority: authority, completion: completion), &metadata)
        return metadata
    }

    private static func check(_ hosts: EndpointHosts, _ metadata: inout ProviderMetadata) throws(ProviderError) {
        if let foreign = hosts.foreign(in: metadata) {
            let url = SafeText(foreign.url, atMost: 200).text
            throw .invalidResponse(
                status: nil,
                "The discovery document of \(hosts.authority.url) names a \(foreign.name) that is not the "
                    + "issuer's own, \(url), and does not promise to name its issuer in answers. If that is right, name it in the provider's table "
                    + "of the configuration: \(foreign.name) = \"…\".")
        }
        let token = metadata.tokenEndpoint
        if let url = metadata.deviceAuthorizationEndpoint, !hosts.allows(deviceEndpoint: url, with: token) {
            metadata.deviceAuthorizationEndpoint = nil
        }
        if let url = metadata.registrationEndpoint, !hosts.allows(registrationEndpoint: url, with: token) {
            metadata.registrationEndpoint = nil
        }
        if let url = metadata.userinfoEndpoint, !hosts.allows(userInfoEndpoint: url, with: token) {
            metadata.userinfoEndpoint = nil
        }
    }

    /// OpenID Connect Discovery 1.0, section 4.3; RFC 8414, section 3.3: the document must belong to the issuer that was
    /// asked, or one provider could impersonate another. ``IssuerRule`` defines this for each kind.
    ///
    /// ``Authority`` has no trailing slash and no default port, so the issuer is compared in the same form. The issuer's own
    /// spelling is kept: ID tokens must repeat it exactly.
    private static func issuer(in document: DiscoveryDocument, of authority: Authority) throws(ProviderError) -> String
    {
        guard let issuer = document.issuer else { throw invalid(authority, "names no issuer") }
        guard IssuerRule(issuer, of: authority) != nil else {
            let named = SafeText(issuer, atMost: 200).text
            throw .invalidResponse(
                status: nil,
                "The discovery document of \(authority.url) is issued by \(named). Use that as the authority if it is "
                    + "the one you mean.")
        }
        return issuer
    }

    private static func invalid(_ authority: Authority, _ what: String) -> ProviderError {
        .invalidResponse(
            status: nil, "The discovery document of \(authority.url) \(what). Ask the provider's operator.")
    }
}

import BrokerModel
import BrokerValues

/// On whose hosts the endpoints may be that a code or a device code passes through.
///
/// An issuer that names somebody else's authorization endpoint beside a token endpoint of its own would be sent their code
/// and its verifier (mix-up; RFC 9700, section 4.4). So both are the issuer's own, or known to be, or the administrator's
/// word; or the provider names itself in its answers (RFC 9207), and an answer of another is not taken.
struct EndpointHosts {
    let authority: Authority
    /// Endpoints that the administrator names count as they stand.
    let completion: MetadataOverride

    /// The first endpoint of a sign-in in the browser that is not the issuer's, if there is one.
    func foreign(in metadata: ProviderMetadata) -> (name: String, url: String)? {
        guard !metadata.promisesIssuerInResponse else { return nil }
        let endpoints = [
            ("authorization_endpoint", metadata.authorizationEndpoint), ("token_endpoint", metadata.tokenEndpoint),
        ]
        return endpoints.first { !isAllowed($0.1, as: $0.0) }.map { (name: $0.0, url: $0.1) }
    }

    /// No browser comes back from a sign-in on another device, so no `iss` either: whoever makes the code is the issuer, or
    /// whoever will be asked to redeem it.
    func allows(deviceEndpoint url: String, beside tokenEndpoint: String) -> Bool {
        isAllowed(url, as: "device_authorization_endpoint")
            || WebURL(url)?.origin == WebURL(tokenEndpoint)?.origin
    }

    /// A client that another provider makes there would be one that its people's codes are good for.
    func allows(registrationEndpoint url: String, beside tokenEndpoint: String) -> Bool {
        isAllowed(url, as: "registration_endpoint") || WebURL(url)?.origin == WebURL(tokenEndpoint)?.origin
    }

    /// What UserInfo says of whom a token is for counts only where both are the issuer's: a token of somebody else's would
    /// else be told to it, and filed as its own.
    func allows(userInfoEndpoint url: String, beside tokenEndpoint: String) -> Bool {
        isAllowed(url, as: "userinfo_endpoint") && isAllowed(tokenEndpoint, as: "token_endpoint")
    }

    private func isAllowed(_ url: String, as name: String) -> Bool {
        if completion.endpoints[name] == url || authority.isHost(of: url) { return true }
        guard let place = WebURL(url), place.isSecure, place.port == nil || place.port == 443 else { return false }
        return KnownProviders.uses(place.host, at: authority.environment)
    }
}

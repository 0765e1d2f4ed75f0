import BrokerModel
import BrokerValues

/// Where the endpoints may be that a code or a device code passes through.
///
/// An issuer that names somebody else's authorization endpoint beside a token endpoint of its own would be sent their code
/// and its verifier (mix-up; RFC 9700, section 4.4). So both are the issuer's own, or known to be, or the administrator's
/// word; or the provider names itself in its answers (RFC 9207), and an answer of another is not taken.
///
/// A host is not an issuer: where an issuer has a path, its neighbours on the host may be somebody else's (decision 118).
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
        if areNeighbors(metadata.authorizationEndpoint, metadata.tokenEndpoint) { return nil }
        return endpoints.first { !isAllowed($0.1, as: $0.0) }.map { (name: $0.0, url: $0.1) }
    }

    /// No browser comes back from a sign-in on another device, so no `iss` either: whoever makes the code is the issuer, or
    /// whoever will be asked to redeem it.
    func allows(deviceEndpoint url: String, beside tokenEndpoint: String) -> Bool {
        isAllowed(url, as: "device_authorization_endpoint") || isBeside(tokenEndpoint, url)
    }

    /// A client that another provider makes there would be one that its people's codes are good for.
    func allows(registrationEndpoint url: String, beside tokenEndpoint: String) -> Bool {
        isAllowed(url, as: "registration_endpoint") || isBeside(tokenEndpoint, url)
    }

    /// What UserInfo says of whom a token is for counts only where both are the issuer's: a token of somebody else's would
    /// else be told to it, and filed as its own.
    func allows(userInfoEndpoint url: String, beside tokenEndpoint: String) -> Bool {
        isAllowed(url, as: "userinfo_endpoint") && isAllowed(tokenEndpoint, as: "token_endpoint")
            || areNeighbors(url, tokenEndpoint)
    }

    /// On a host that is not the issuer's, whoever has the token endpoint is believed to have the rest.
    private func isBeside(_ tokenEndpoint: String, _ url: String) -> Bool {
        areNeighbors(url, tokenEndpoint)
            || !authority.isHost(of: tokenEndpoint) && WebURL(url)?.origin == WebURL(tokenEndpoint)?.origin
    }

    /// Some providers have endpoints for all their issuers together, in one folder that is no issuer's.
    private func areNeighbors(_ one: String, _ other: String) -> Bool {
        guard authority.isHost(of: one), authority.isHost(of: other), let folder = WebURL(one)?.folder
        else { return false }
        return folder == WebURL(other)?.folder
    }

    private func isAllowed(_ url: String, as name: String) -> Bool {
        if completion.endpoints[name] == url || isIssuers(url) { return true }
        guard let place = WebURL(url), place.isSecure, place.port == nil || place.port == 443 else { return false }
        return KnownProviders.uses(place.host, at: authority.environment)
    }

    /// Whether an endpoint is the issuer's own: at its host, and below its path unless the host is the provider's own.
    private func isIssuers(_ url: String) -> Bool {
        guard authority.isHost(of: url) else { return false }
        return authority.rules.hasHostWideClients || KnownProviders.own(authority.environment)
            || WebURL(url)?.isBelow(authority.path) == true
    }
}

extension WebURL {
    /// - Parameter start: without slashes around it; empty for the whole host.
    fileprivate func isBelow(_ start: String) -> Bool {
        guard !start.isEmpty else { return true }
        let path = path.utf8.dropFirst()
        guard path.starts(with: start.utf8) else { return false }
        let rest = path.dropFirst(start.utf8.count)
        return rest.isEmpty || rest.first == UInt8(ascii: "/") && Self.leadsDown(rest)
    }

    /// The path up to its last name. Nil where a query might tell issuers apart, or the path might not lead where it seems to.
    fileprivate var folder: String? {
        let whole = path.utf8.last == UInt8(ascii: "/") ? path.dropLast() : path[...]
        guard !hasQuery, Self.leadsDown(path.utf8), let slash = whole.lastIndex(of: "/") else { return nil }
        return String(whole[..<slash])
    }

    /// Whether nobody takes a part of the path for a step up: browsers, proxies and servers differ in how they read dots,
    /// parameters (`..;`) and what is percent-encoded.
    private static func leadsDown(_ path: some Collection<UInt8>) -> Bool {
        path.split(separator: UInt8(ascii: "/")).allSatisfy { name in
            name.first != UInt8(ascii: ".") && !name.contains(UInt8(ascii: "%")) && !name.contains(UInt8(ascii: ";"))
        }
    }
}

import BrokerModel
import BrokerValues

/// Restricts the location of the endpoints that a code or a device code passes through.
///
/// An issuer that names another issuer's authorization endpoint next to a token endpoint of its own would be sent the
/// other's code and verifier (mix-up; RFC 9700, section 4.4). So both are the issuer's own, or known to be, or configured by
/// the administrator; or the provider names itself in its responses (RFC 9207), and a response of another one is rejected.
///
/// A host is not an issuer: if an issuer has a path, its neighbors on the host may belong to others (decision 12).
struct EndpointHosts {
    let authority: Authority
    /// Endpoints configured by the administrator are used unchanged.
    let completion: MetadataOverride

    /// The first endpoint of a browser sign-in that is not the issuer's, if there is one.
    func foreign(in metadata: ProviderMetadata) -> (name: String, url: String)? {
        guard !metadata.promisesIssuerInResponse else { return nil }
        let endpoints = [
            ("authorization_endpoint", metadata.authorizationEndpoint), ("token_endpoint", metadata.tokenEndpoint),
        ]
        if areNeighbors(metadata.authorizationEndpoint, metadata.tokenEndpoint) { return nil }
        return endpoints.first { !isAllowed($0.1, as: $0.0) }.map { (name: $0.0, url: $0.1) }
    }

    /// A sign-in on another device has no redirect, so no `iss` either: the endpoint that makes the code must be the issuer's,
    /// or that of the server that redeems it.
    func allows(deviceEndpoint url: String, with tokenEndpoint: String) -> Bool {
        isAllowed(url, as: "device_authorization_endpoint") || isNextTo(tokenEndpoint, url)
    }

    /// A client that another provider registers there would be one that its users' codes are valid for.
    func allows(registrationEndpoint url: String, with tokenEndpoint: String) -> Bool {
        isAllowed(url, as: "registration_endpoint") || isNextTo(tokenEndpoint, url)
    }

    /// UserInfo's statement about the user counts only if both endpoints are the issuer's: otherwise a token of another
    /// issuer would be disclosed to it and stored as its own.
    func allows(userInfoEndpoint url: String, with tokenEndpoint: String) -> Bool {
        isAllowed(url, as: "userinfo_endpoint") && isAllowed(tokenEndpoint, as: "token_endpoint")
            || areNeighbors(url, tokenEndpoint)
    }

    /// On a host that is not the issuer's, the operator of the token endpoint is trusted to operate the other endpoints.
    private func isNextTo(_ tokenEndpoint: String, _ url: String) -> Bool {
        areNeighbors(url, tokenEndpoint)
            || !authority.isHost(of: tokenEndpoint) && WebURL(url)?.origin == WebURL(tokenEndpoint)?.origin
    }

    /// Some providers have endpoints for all their issuers together, in one folder that belongs to no issuer.
    private func areNeighbors(_ one: String, _ other: String) -> Bool {
        guard authority.isHost(of: one), authority.isHost(of: other), let folder = WebURL(one)?.folder
        else { return false }
        return folder == WebURL(other)?.folder
    }

    private func isAllowed(_ url: String, as name: String) -> Bool {
        if completion.endpoints[name] == url || belongsToIssuer(url) { return true }
        guard let place = WebURL(url), place.isSecure, place.port == nil || place.port == 443 else { return false }
        return KnownProviders.uses(place.host, at: authority.environment)
    }

    /// Whether an endpoint is the issuer's own: on its host, and below its path unless the host is the provider's own.
    private func belongsToIssuer(_ url: String) -> Bool {
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
        return rest.isEmpty || rest.first == UInt8(ascii: "/") && Self.isUnambiguous(rest)
    }

    /// The path without its last component. `nil` if a query might distinguish issuers, or if the path might be ambiguous.
    fileprivate var folder: String? {
        let whole = path.utf8.last == UInt8(ascii: "/") ? path.dropLast() : path[...]
        guard !hasQuery, Self.isUnambiguous(path.utf8), let slash = whole.lastIndex(of: "/") else { return nil }
        return String(whole[..<slash])
    }

    /// Whether no part of the path can be read as a step up: browsers, proxies and servers differ in how they read dots,
    /// parameters (`..;`) and percent-encoding.
    private static func isUnambiguous(_ path: some Collection<UInt8>) -> Bool {
        path.split(separator: UInt8(ascii: "/")).allSatisfy { name in
            name.first != UInt8(ascii: ".") && !name.contains(UInt8(ascii: "%")) && !name.contains(UInt8(ascii: ";"))
        }
    }
}

import BrokerModel

enum WellKnown {
    /// OpenID Connect Discovery 1.0, section 4.1: appended to the issuer.
    static func openIDConfiguration(of authority: Authority) -> String {
        authority.url + authority.rules.protocolPath + "/.well-known/openid-configuration"
    }

    /// RFC 8414, section 3.1: between host and path.
    static func authorizationServer(of authority: Authority) -> String {
        let root = authority.url.dropLast(authority.path.isEmpty ? 0 : authority.path.count + 1)
        return root + "/.well-known/oauth-authorization-server" + (authority.path.isEmpty ? "" : "/\(authority.path)")
    }
}

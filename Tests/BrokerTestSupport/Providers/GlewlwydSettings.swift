import BrokerModel
import BrokerValues
import DevIdentityProvider
import Foundation

/// The bodies of glewlwyd's administration API that configure it for the tests.
enum GlewlwydSettings {
    static let scopes = ["openid", "profile", "email", "offline_access", "api", "files"]

    static func scope(_ name: String) -> JSONValue {
        [
            "name": .string(name), "display_name": .string(name), "description": .string(name),
            "password_required": true, "password_max_age": 0, "scheme": [:],
        ]
    }

    static func user(_ person: Person) -> JSONValue {
        [
            "username": .string(person.name), "password": .string(person.password), "enabled": true,
            "name": .string("\(person.name.capitalized) Example"), "email": .string("\(person.name)@example.org"),
            "scope": .array((["g_profile"] + scopes).map { .string($0) }),
        ]
    }

    static func client(_ id: String, secret: String?, redirectURIs: [String]) -> JSONValue {
        var client: JSONObject = [
            "client_id": .string(id), "name": .string("\(id.capitalized) app"), "enabled": true, "scope": [],
            "redirect_uri": .array(redirectURIs.map { .string($0) }), "confidential": .bool(secret != nil),
            "authorization_type": ["code", "refresh_token", "delete_token", "device_authorization"],
            "post_logout_redirect_uris": .array(redirectURIs.map { .string($0) }),
            "token_endpoint_auth_method": secret == nil ? ["none"] : ["client_secret_basic", "client_secret_post"],
        ]
        if let secret { client["client_secret"] = .string(secret) }
        return .object(client)
    }

    /// The OpenID Connect plugin, under the name in the issuer.
    static func plugin(issuer: String, accessLifetime: Int64) throws -> JSONValue {
        let username: JSONValue = [
            "name": "preferred_username", "user-property": "username", "type": "string", "mandatory": true,
        ]
        let parameters: JSONObject = [
            "iss": .string(issuer), "subject-type": "public", "jwks-private": .string(try newKeySet(named: "test-1")),
            "jwks-show": true,
            "allowed-scope": .array(scopes.map { .string($0) }),
            "access-token-duration": .integer(accessLifetime), "refresh-token-duration": 1_209_600,
            "code-duration": 60, "refresh-token-rolling": true, "refresh-token-one-use": "always",
            "auth-type-code-enabled": true, "auth-type-refresh-enabled": true, "auth-type-token-enabled": false,
            "auth-type-password-enabled": false, "auth-type-client-enabled": false, "auth-type-device-enabled": true,
            "device-authorization-expiration": 600, "device-authorization-interval": 1,
            "auth-type-code-revoke-replayed": true, "allow-non-oidc": true, "pkce-allowed": true,
            "pkce-required": true, "pkce-method-plain-allowed": false, "oauth-as-iss-id": true,
            "name-claim": "on-demand", "name-claim-scope": ["profile"], "email-claim": "on-demand",
            "email-claim-scope": ["email"], "scope-claim": "no", "claims": [username],
            "session-cookie-name": "GLEWLWYD2_OIDC_SID", "session-cookie-expiration": 86400,
            "session-management-allowed": true,
        ]
        return ["module": "oidc", "name": "oidc", "display_name": "OpenID Connect", "parameters": .object(parameters)]
    }

    /// A private JWK set with one P-256 key (RFC 7517, RFC 7518 section 6.2).
    static func newKeySet(named name: String) throws -> String {
        let key = try ProviderKey(.p256)
        let (x, y, d) = (number(.x, of: key), number(.y, of: key), number(.d, of: key))
        return """
            {"keys":[{"kty":"EC","crv":"P-256","kid":"\(name)","alg":"ES256","use":"sig",\
            "x":"\(x)","y":"\(y)","d":"\(d)"}]}
            """
    }

    private static func number(_ member: ProviderKey.Member, of key: ProviderKey) -> String {
        Base64URL.encode(key.number(member))
    }
}

import BrokerModel
import BrokerValues

/// A person's names and contact details: the claims of the scopes `profile` and `email` (OpenID Connect Core, section 5.4). Pure.
///
/// They may be in UserInfo only, and a refreshed ID token may omit them. Nothing else is taken from there: decisions rely on the ID
/// token alone.
enum ProfileClaims {
    private static let names: Set<String> = [
        "name", "family_name", "given_name", "middle_name", "nickname", "preferred_username", "profile", "picture",
        "website", "gender", "birthdate", "zoneinfo", "locale", "updated_at", "email", "email_verified",
    ]

    static func of(_ claims: JSONObject) -> JSONObject { claims.filter { names.contains($0.key) } }

    /// Whether the claims have a username and a name to show in a list of accounts.
    static func sayWhoItIs(_ claims: IDTokenClaims) -> Bool {
        namedUser(in: claims) != nil && claims["name"] != nil
    }

    /// The name under which a person is listed.
    static func username(in claims: IDTokenClaims) -> String { namedUser(in: claims) ?? claims.subject.text }

    /// The username in the claims; `nil` if they name the subject only.
    static func namedUser(in claims: IDTokenClaims) -> String? {
        ["preferred_username", "email", "upn"].lazy.compactMap { claims[$0] }.first { !$0.isEmpty }
    }
}

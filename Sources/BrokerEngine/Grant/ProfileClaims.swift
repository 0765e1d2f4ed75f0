import BrokerModel
import BrokerValues

/// What a person is called and how they can be reached: the claims of the scopes `profile` and `email` (OpenID Connect Core,
/// section 5.4). Pure.
///
/// They may stand in UserInfo only, and a refreshed ID token may leave them out. Nothing else is taken from there: what is
/// decided by goes by the ID token alone.
enum ProfileClaims {
    private static let names: Set<String> = [
        "name", "family_name", "given_name", "middle_name", "nickname", "preferred_username", "profile", "picture",
        "website", "gender", "birthdate", "zoneinfo", "locale", "updated_at", "email", "email_verified",
    ]

    static func of(_ claims: JSONObject) -> JSONObject { claims.filter { names.contains($0.key) } }

    /// Whether a list of accounts could show who this is.
    static func sayWhoItIs(_ claims: IDTokenClaims) -> Bool {
        GrantedTokens.namedUser(in: claims) != nil && claims["name"] != nil
    }
}

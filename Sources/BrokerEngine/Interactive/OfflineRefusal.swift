import BrokerModel
import BrokerValues

/// Providers that refuse `offline_access` to a client or person although they publish it (decision 17). The broker adds it by
/// itself, so a refusal must not end the sign-in. Pure.
enum OfflineRefusal {
    /// Whether an error may be about `offline_access`: the code of RFC 6749, section 4.1.2.1, and Keycloak's.
    static func isPossible(_ error: BrokerError, to scopes: Scopes) -> Bool {
        ScopeRules.offlineAccess.isSubset(of: scopes) && isAboutScopes(error)
    }

    static func isAboutScopes(_ error: BrokerError) -> Bool {
        ["invalid_scope", "not_allowed"].contains(error.details.oauthError)
    }

    /// A failed sign-in's evidence about the provider.
    ///
    /// - Parameter known: ``AppMetadataRecord/refusesOfflineAccess``.
    /// - Returns: the new knowledge; `nil` if it is unchanged. A request that is also refused without the scope was refused for
    ///   another reason.
    static func learned(from error: BrokerError, to scopes: Scopes, known: Bool?) -> Bool? {
        if isPossible(error, to: scopes) { return known == true ? nil : true }
        return known == true && error.details.oauthError == "invalid_scope" ? false : nil
    }
}

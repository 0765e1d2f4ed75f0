/// The reason for the refusal of a refresh token. Each kind of provider has its own codes for it
/// (``ProviderRules/meaning(of:)``).
package enum RefusedGrant: Sendable, Equatable, CaseIterable {
    /// The token is too old, or was not used for too long.
    case expired
    /// The provider no longer has the user's account.
    case accountDeleted
    /// The token was revoked or spent, or belongs to another client.
    case revoked
    /// The client is not in the token's family.
    case otherFamily
    case needsConsent
    case needsAdminConsent
    /// The user has to act at the provider: a second factor, a new password.
    case needsPerson
    /// The user has no account in the tenant, or a disabled one.
    case notInTenant
    /// The user may not use the app or the resource.
    case notAssigned
    /// A policy of the tenant's administrator forbids it for this user, device or app.
    case blockedByPolicy

    /// Whether the token will never work again, according to the refusal itself.
    package var endsToken: Bool { self == .expired || self == .revoked || self == .accountDeleted }
}

extension RefusedGrant {
    /// RFC 6749, section 5.2: `invalid_grant` means that the token is expired, revoked or another client's. A suberror is more
    /// specific: other providers than Entra send it as well.
    static func standard(_ refusal: OAuthRefusal) -> RefusedGrant {
        if let known = bySubError[refusal.subError ?? ""] { return known }
        if refusal.error == "consent_required" { return .needsConsent }
        return refusal.error == "invalid_grant" && (refusal.subError ?? "").isEmpty ? .revoked : .needsPerson
    }

    static let bySubError: [String: RefusedGrant] = [
        "bad_token": .revoked, "token_expired": .expired, "client_mismatch": .otherFamily,
        "consent_required": .needsConsent, "user_account_deleted": .accountDeleted,
    ]
}

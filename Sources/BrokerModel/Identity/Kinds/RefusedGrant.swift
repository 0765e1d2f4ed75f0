/// What the refusal of a refresh token is about. Each kind of provider has its own words for it
/// (``ProviderRules/meaning(of:)``).
package enum RefusedGrant: Sendable, Equatable, CaseIterable {
    /// The token is too old, or was not used for too long.
    case expired
    /// The provider has the person's account no longer.
    case accountDeleted
    /// The token was revoked or spent, or belongs to another client.
    case revoked
    /// The client does not belong to the family that the token is for.
    case otherFamily
    case needsConsent
    case needsAdminConsent
    /// The person has to do something at the provider: a second factor, a new password.
    case needsPerson
    /// The person has no account in the tenant, or none that is enabled.
    case notInTenant
    /// The person may not use the app or the resource.
    case notAssigned
    /// A policy of the tenant's administrator forbids it to this person, device or app.
    case blockedByPolicy

    /// Whether the token will never work again, as far as the refusal itself says.
    package var endsToken: Bool { self == .expired || self == .revoked || self == .accountDeleted }
}

extension RefusedGrant {
    /// RFC 6749, section 5.2: `invalid_grant` says that the token is expired, revoked or another client's. A second code says
    /// more: other providers than Entra send it as well.
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

/// The meaning of Entra's `invalid_grant`, by the number (AADSTS) or the suberror. Without either, the state of the token is
/// unknown, and it stays.
enum EntraRefusals {
    static func meaning(of refusal: OAuthRefusal) -> RefusedGrant {
        let numbered = refusal.errorCodes.lazy.compactMap { byNumber[$0] }.first
        let second = RefusedGrant.bySubError[refusal.subError ?? ""]
        // The suberror describes the token, and the number why it does not work.
        if let second, second == .otherFamily || second.endsToken {
            return numbered == .expired && second != .accountDeleted ? .expired : second
        }
        if let numbered { return numbered }
        return second ?? (refusal.error == "consent_required" ? .needsConsent : .needsPerson)
    }

    private static let byNumber: [Int64: RefusedGrant] = [
        // Too old, unused for too long, beyond the sign-in frequency, beyond the fixed lifetime of a page's token.
        70008: .expired, 70043: .expired, 700081: .expired, 700082: .expired, 700084: .expired, 50089: .expired,
        // The password was changed or reset.
        50173: .revoked,
        65001: .needsConsent, 90094: .needsAdminConsent,
        // A second factor or its registration, and a provider that Entra asks for one.
        50072: .needsPerson, 50074: .needsPerson, 50076: .needsPerson, 50078: .needsPerson, 50079: .needsPerson,
        50158: .needsPerson,
        // No account, or a disabled one.
        50020: .notInTenant, 50034: .notInTenant, 50057: .notInTenant,
        // No role for the app; a resource that the tenant has not enabled.
        50105: .notAssigned, 650052: .notAssigned,
        // Conditional access: the device is not compliant or not joined, the app is not approved, access is blocked.
        53000: .blockedByPolicy, 53001: .blockedByPolicy, 53002: .blockedByPolicy, 53003: .blockedByPolicy,
    ]
}

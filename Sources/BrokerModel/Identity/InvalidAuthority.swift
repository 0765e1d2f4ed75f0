/// Why a text is not an authority.
package enum InvalidAuthority: Error, Sendable, Equatable {
    case notAURL
    case plainHTTP
    case httpLoopbackNotAllowed
    case hasQueryOrFragment
    case hasUserInfo
    /// An Entra host without a tenant.
    case tenantMissing
    /// An invalid tenant, or one followed by anything but `/v2.0`.
    case notATenant
    /// A B2C host without tenant and policy.
    case policyMissing
    /// An ADFS authority ends in `/adfs`.
    case notADFS
}

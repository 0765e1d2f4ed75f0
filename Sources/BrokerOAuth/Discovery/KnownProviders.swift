/// Providers that are known to keep endpoints on other hosts than their issuer's. Only the provider itself writes a
/// document at these issuers' hosts: its customers cannot name endpoints there.
///
/// For all other providers the administrator names other hosts. These entries are listed in docs/compatibility.md.
package enum KnownProviders {
    package struct Entry: Sendable {
        /// Host of the issuer. A `*` is any one label; `REGION` is as well, but the same one in all names of the entry.
        package let issuer: String
        package let endpoints: [String]
    }

    /// Nonstandard parameters that sign-ins at a provider need to get a refresh token.
    package struct Habits: Sendable {
        /// Has the format of ``Entry/issuer``.
        package let issuer: String
        /// Added to every sign-in unless the app's registration or the request says otherwise.
        var query: [String: String] = [:]
        package var resourceParameter: String?
        /// Refresh tokens are issued with the first consent, and later with `prompt=consent` only.
        var refreshTokenTakesConsent = false
        /// A proof at the token endpoint binds the refresh token, but the access token remains a bearer token.
        var bindsRefreshTokens = false
    }

    package static let habits = [
        // A refresh token is issued for these parameters only.
        Habits(
            issuer: "accounts.google.com", query: ["access_type": "offline"], refreshTokenTakesConsent: true,
            bindsRefreshTokens: true),
        Habits(issuer: "www.dropbox.com", query: ["token_access_type": "offline"]),
        Habits(issuer: "*.auth0.com", resourceParameter: "audience"),
        Habits(issuer: "*.REGION.auth0.com", resourceParameter: "audience"),
    ]

    /// - Parameter issuer: the authority's host.
    package static func habits(at issuer: String) -> Habits? { habits.first { match(issuer, $0.issuer) != nil } }

    package static let all = [
        Entry(issuer: "accounts.google.com", endpoints: ["oauth2.googleapis.com"]),
        Entry(
            issuer: "cognito-idp.REGION.amazonaws.com",
            endpoints: ["*.auth.REGION.amazoncognito.com", "*.auth-fips.REGION.amazoncognito.com"]),
        // The same pools, with the issuer that AWS recommends now.
        Entry(
            issuer: "issuer-cognito-idp.REGION.amazonaws.com",
            endpoints: ["*.auth.REGION.amazoncognito.com", "*.auth-fips.REGION.amazoncognito.com"]),
        // Entra External ID: a tenant's host has a second name, with the tenant's id.
        Entry(issuer: "*.ciamlogin.com", endpoints: ["*.ciamlogin.com"]),
        Entry(issuer: "www.dropbox.com", endpoints: ["api.dropboxapi.com"]),
        Entry(issuer: "access.line.me", endpoints: ["api.line.me"]),
        Entry(issuer: "www.paypal.com", endpoints: ["api.paypal.com"]),
    ]

    /// - Parameters:
    ///   - host: the endpoint's host.
    ///   - issuer: the authority's host.
    package static func uses(_ host: String, at issuer: String) -> Bool {
        all.contains { entry in
            guard let region = match(issuer, entry.issuer) else { return false }
            return entry.endpoints.contains { match(host, $0).map { $0.isEmpty || $0 == region } ?? false }
        }
    }

    /// Whether an issuer's host is one of theirs.
    package static func own(_ issuer: String) -> Bool { all.contains { match(issuer, $0.issuer) != nil } }

    /// - Returns: `nil` for a host that does not match; otherwise the value of `REGION`, if any.
    private static func match(_ host: String, _ pattern: String) -> String? {
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        let wanted = pattern.split(separator: ".")
        guard labels.count == wanted.count else { return nil }
        var region = ""
        for (label, wanted) in zip(labels, wanted) {
            switch wanted {
            case "*": guard !label.isEmpty else { return nil }
            case "REGION":
                guard !label.isEmpty else { return nil }
                region = String(label)
            default: guard label == wanted else { return nil }
            }
        }
        return region
    }
}

/// Providers that are known to keep endpoints on other hosts than their issuer's. Nobody but the provider itself writes a
/// document at these issuers' hosts: a customer of theirs cannot name endpoints there.
///
/// Everybody else's other hosts are named by the administrator. What is here is listed in docs/compatibility.md.
package enum KnownProviders {
    package struct Entry: Sendable {
        /// Host of the issuer. A `*` is any one label; so is `REGION`, the same one in all names of the entry.
        package let issuer: String
        package let endpoints: [String]
    }

    /// What sign-ins at a provider need beside the standard, so that they last.
    package struct Habits: Sendable {
        /// As ``Entry/issuer``.
        package let issuer: String
        /// Goes along with every sign-in, where neither the app's registration nor the request says otherwise.
        var query: [String: String] = [:]
        package var resourceParameter: String?
        /// Refresh tokens come with the first consent, and later with `prompt=consent` only.
        var refreshTokenTakesConsent = false
        /// A proof at the token endpoint binds the refresh token, and the access token is a bearer token all the same.
        var bindsRefreshTokens = false
    }

    package static let habits = [
        // A refresh token comes for these only.
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
        // Of the same pools, with the issuer that AWS recommends by now.
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
    ///   - host: of the endpoint.
    ///   - issuer: the authority's host.
    package static func uses(_ host: String, at issuer: String) -> Bool {
        all.contains { entry in
            guard let region = match(issuer, entry.issuer) else { return false }
            return entry.endpoints.contains { match(host, $0).map { $0.isEmpty || $0 == region } ?? false }
        }
    }

    /// Whether an issuer's host is one of theirs.
    package static func own(_ issuer: String) -> Bool { all.contains { match(issuer, $0.issuer) != nil } }

    /// - Returns: nil for a host that is not meant; else what stands for `REGION`, if anything does.
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

import BrokerModel
import BrokerValues

/// Which scopes an app may ask for, and which go to the provider (MSAL, "Scopes"). Pure.
package enum ScopeRules {
    package static func check(_ scopes: Scopes) throws(BrokerError) {
        let named = scopes.asGiven.filter { Scopes.reserved.normalized.contains($0.lowercased()) }
        guard named.isEmpty else {
            throw BrokerError(
                .invalidParameter,
                "The broker adds \(named.joined(separator: ", ")) itself; leave it out of the scopes.")
        }
    }

    /// For the authorization request.
    package static func toAuthorize(_ scopes: Scopes, extra: Scopes) -> Scopes {
        Scopes.reserved.union(scopes).union(extra)
    }

    /// For a refresh: no more than was granted of what the broker adds itself (RFC 6749, section 6).
    package static func toRefresh(_ scopes: Scopes, granted: Scopes) -> Scopes {
        let kept = Scopes.reserved.asGiven.filter { granted.normalized.contains($0) }
        return Scopes(kept).union(scopes)
    }

    /// What of a spent token's grant goes on in its successor. A family's token was granted to another app, whose scopes
    /// this one does not have.
    package static func earlierGrant(of spent: RefreshTokenRecord) -> Scopes {
        let scopes = Scopes(spent.scopes)
        guard spent.familyID != nil else { return scopes }
        return Scopes(Scopes.reserved.asGiven.filter { scopes.normalized.contains($0) })
    }

    /// Scopes that were asked for and not granted; a provider that keeps `email` to the ID token is forgiven.
    package static func declined(asked: Scopes, granted: Scopes) -> Scopes {
        asked.subtracting(granted).subtracting(Scopes(["email"]))
    }

    package static let unsupportedTokenType = BrokerError(
        .unsupported, "This broker hands out Bearer tokens only; ask for tokenType Bearer.")
}

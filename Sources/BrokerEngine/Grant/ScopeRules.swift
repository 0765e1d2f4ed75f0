import BrokerModel
import BrokerValues

/// The scopes that an app may request, and those that are sent to the provider (MSAL, "Scopes"). Pure.
package enum ScopeRules {
    package static func check(_ scopes: Scopes) throws(BrokerError) {
        guard scopes.namesReserved else { return }
        let named = scopes.asGiven.filter { Scopes.reserved.normalized.contains($0.lowercased()) }
        throw BrokerError(
            .invalidParameter,
            "The broker adds \(named.joined(separator: ", ")) itself; leave it out of the scopes.")
    }

    /// The scopes of an authorization request, and of the registration of a new client.
    ///
    /// `offline_access` is left out at a provider that publishes its scopes without it: it would refuse the whole request, and may
    /// issue refresh tokens on other conditions. The administrator's setting takes precedence.
    ///
    /// - Parameters:
    ///   - setting: whether the app's registration wants `offline_access`; it takes precedence over everything else.
    ///   - refused: whether the provider refused `offline_access` to this client before.
    package static func toAuthorize(
        _ scopes: Scopes, extra: Scopes, at metadata: ProviderMetadata, setting: Bool? = nil,
        withoutOfflineAccess refused: Bool = false
    ) -> Scopes {
        let isOffered =
            metadata.authority.rules.takesOfflineAccess
            || metadata.scopesSupported.map { offlineAccess.isSubset(of: Scopes($0)) } ?? true
        let isTaken = setting ?? (!refused && (metadata.takesOfflineAccess ?? isOffered))
        let own = isTaken ? Scopes.reserved : Scopes.reserved.subtracting(offlineAccess)
        return own.union(scopes).union(extra)
    }

    static let offlineAccess = Scopes(["offline_access"])

    /// The scopes of a refresh. Of those that the broker adds itself or counts as granted, it requests only those that were granted
    /// (RFC 6749, section 6).
    ///
    /// If grants follow consent, the granted scopes say nothing about `offline_access`, and without it there is no new refresh
    /// token.
    ///
    /// - Parameters:
    ///   - granted: the refresh token's scopes, as far as they are known.
    ///   - earlier: its scopes before a refresh for less, which most providers still accept.
    ///   - keepsWhole: whether all granted scopes are requested, since the provider would take away the rest.
    package static func toRefresh(
        _ scopes: Scopes, granted: Scopes, earlier: Scopes? = nil, keepsWhole: Bool = false,
        at kind: ProviderKind = .generic
    ) -> Scopes {
        if kind.rules.grantsFollowConsent { return Scopes.reserved.union(scopes) }
        let scopes = scopes.subtracting(forgiven.subtracting(earlier ?? granted))
        if keepsWhole, !scopes.asGiven.contains(where: isDefault) {
            return grantedByName(granted).union(scopes)
        }
        let kept = Scopes.reserved.asGiven.filter { granted.normalized.contains($0) }
        return Scopes(kept).union(scopes)
    }

    /// Whether a refresh token may be used for these scopes at all: never for scopes that were not granted with it (RFC 6749,
    /// section 6), if that is known. It is unknown for a token that was imported without its scopes or had more than are kept, and
    /// for a grant for several resources; and some kinds of provider give whatever the person agreed to.
    package static func mayRefresh(
        _ scopes: Scopes, resources: [String], spending token: RefreshTokenRecord, at kind: ProviderKind
    ) -> Bool {
        guard !kind.rules.grantsFollowConsent, resources.isEmpty, !token.scopes.isEmpty, token.isGoodForMore != true
        else { return true }
        return grantedByName(scopes).subtracting(forgiven).isSubset(of: Scopes(token.scopes))
    }

    /// Whether a refresh can bring a token with these scopes alone: not where the whole grant is asked for or given, as
    /// it is if no scope is sent (RFC 6749, section 6). The scopes behind a `.default` are not known, and an app may do
    /// without `offline_access`.
    package static func canNarrow(
        to scopes: Scopes, resources: [String], spending token: RefreshTokenRecord, at kind: ProviderKind
    ) -> Bool {
        guard !kind.rules.grantsFollowConsent, !scopes.asGiven.contains(where: isDefault),
            mayRefresh(scopes, resources: resources, spending: token, at: kind)
        else { return false }
        let isWhole = resources.isEmpty && (token.grantNarrows == true || token.namesResources == true)
        let sent = toRefresh(scopes, granted: Scopes(token.narrowedTo ?? token.scopes), earlier: Scopes(token.scopes))
        return !isWhole && !sent.subtracting(offlineAccess).isEmpty
    }

    /// The scopes of a redeemed token's successor, if they are fewer than the grant's.
    package static func narrowing(of spent: RefreshTokenRecord, by sent: Scopes) -> [String]? {
        // All that the token still had was asked for.
        if sent.isEmpty { return spent.narrowedTo }
        return earlierGrant(of: spent).isSubset(of: sent) ? nil : sent.asGiven
    }

    /// The part of a redeemed token's grant that continues in its successor. A family's token was granted to another app, whose
    /// scopes this one does not have.
    package static func earlierGrant(of spent: RefreshTokenRecord) -> Scopes {
        let scopes = Scopes(spent.scopes)
        guard spent.familyID != nil else { return scopes }
        return Scopes(Scopes.reserved.asGiven.filter { scopes.normalized.contains($0) })
    }

    /// `RESOURCE/.default` means the app's registered scopes at the resource, and `.default` alone those at the provider's own one:
    /// any result matches. A resource that ends in a slash gives `RESOURCE//.default`.
    package static func isDefault(_ scope: some StringProtocol) -> Bool {
        let scope = scope.lowercased()
        return scope == ".default" || scope.hasSuffix("/.default")
    }

    /// The scopes without `.default`, which providers refuse together with other scopes.
    package static func grantedByName(_ granted: Scopes) -> Scopes {
        Scopes(granted.asGiven.filter { !isDefault($0) })
    }

    /// The `.default` scopes of a request. A token is also filed under these, so that it answers the next such request.
    package static func defaults(of asked: Scopes) -> [String] { asked.asGiven.filter(isDefault) }

    /// The scopes for renewing a token: all that it has, or only the `.default` that it was requested with, since providers refuse
    /// that together with other scopes.
    package static func toRenew(_ token: AccessTokenRecord) -> Scopes {
        let scopes = Scopes(token.scopes).subtracting(Scopes.reserved)
        let defaults = scopes.asGiven.filter(isDefault)
        return defaults.isEmpty ? scopes : Scopes(defaults)
    }

    /// Scopes that were requested and not granted; `email` does not count, since providers may keep it to the ID token.
    package static func declined(asked: Scopes, granted: Scopes) -> Scopes {
        asked.subtracting(granted).subtracting(forgiven)
    }

    /// The scopes under which an access token is filed: includes those whose absence is accepted, since asking again would only
    /// make each request a refresh.
    package static func filed(_ granted: Scopes, asked: Scopes) -> Scopes {
        granted.union(Scopes(asked.asGiven.filter { forgiven.normalized.contains($0.lowercased()) }))
    }

    package static let forgiven = Scopes(["email"])
}

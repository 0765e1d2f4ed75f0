import BrokerModel
import BrokerValues

/// Which scopes an app may ask for, and which go to the provider (MSAL, "Scopes"). Pure.
package enum ScopeRules {
    package static func check(_ scopes: Scopes) throws(BrokerError) {
        guard scopes.namesReserved else { return }
        let named = scopes.asGiven.filter { Scopes.reserved.normalized.contains($0.lowercased()) }
        throw BrokerError(
            .invalidParameter,
            "The broker adds \(named.joined(separator: ", ")) itself; leave it out of the scopes.")
    }

    /// For the authorization request, and for what a new client shall be able to ask for.
    ///
    /// A provider that publishes its scopes and has no `offline_access` among them would refuse the whole request. It may
    /// have other ways to a refresh token. The administrator's word comes first.
    ///
    /// - Parameters:
    ///   - setting: whether the app's registration wants `offline_access`; it comes before everything else.
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

    /// For a refresh: no more than was granted of what the broker adds itself, and of what it lets pass as granted (RFC 6749,
    /// section 6).
    ///
    /// Where grants follow consent, what was granted says nothing of `offline_access`, and without it there is no new
    /// refresh token.
    ///
    /// - Parameters:
    ///   - granted: what the refresh token is good for, as far as is known.
    ///   - earlier: what it was good for before a refresh for less, which most providers do not hold against it.
    ///   - keepsWhole: whether all that was granted is asked for, since the provider would take away the rest.
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

    /// Whether a refresh token may be asked for these scopes at all: never for what was not granted with it (RFC 6749,
    /// section 6), where that is known. It is not for a token that was imported without its scopes, or had more than are kept,
    /// nor where a grant is for several resources; and some kinds of provider give whatever the person agreed to.
    package static func mayRefresh(
        _ scopes: Scopes, resources: [String], spending token: RefreshTokenRecord, at kind: ProviderKind
    ) -> Bool {
        guard !kind.rules.grantsFollowConsent, resources.isEmpty, !token.scopes.isEmpty, token.isGoodForMore != true
        else { return true }
        return grantedByName(scopes).subtracting(forgiven).isSubset(of: Scopes(token.scopes))
    }

    /// What the successor of a spent token may be good for, when that is less than the grant.
    package static func narrowing(of spent: RefreshTokenRecord, by sent: Scopes) -> [String]? {
        earlierGrant(of: spent).isSubset(of: sent) ? nil : sent.asGiven
    }

    /// What of a spent token's grant goes on in its successor. A family's token was granted to another app, whose scopes
    /// this one does not have.
    package static func earlierGrant(of spent: RefreshTokenRecord) -> Scopes {
        let scopes = Scopes(spent.scopes)
        guard spent.familyID != nil else { return scopes }
        return Scopes(Scopes.reserved.asGiven.filter { scopes.normalized.contains($0) })
    }

    /// `RESOURCE/.default` stands for what the app is registered for at the resource, and `.default` alone for that at the
    /// provider's own one: whatever comes back is it. A resource that ends in a slash gives `RESOURCE//.default`.
    package static func isDefault(_ scope: some StringProtocol) -> Bool {
        let scope = scope.lowercased()
        return scope == ".default" || scope.hasSuffix("/.default")
    }

    /// Without the `.default` that some of it was the answer to: providers refuse it beside other scopes.
    package static func grantedByName(_ granted: Scopes) -> Scopes {
        Scopes(granted.asGiven.filter { !isDefault($0) })
    }

    /// A token is filed under the `.default` that it was the answer to, too, so that it answers the next such request as well.
    package static func defaults(of asked: Scopes) -> [String] { asked.asGiven.filter(isDefault) }

    /// What a renewal of a token asks for: all that it carries, and for the answer to a `.default` that alone, since
    /// providers refuse it beside other scopes.
    package static func toRenew(_ token: AccessTokenRecord) -> Scopes {
        let scopes = Scopes(token.scopes).subtracting(Scopes.reserved)
        let defaults = scopes.asGiven.filter(isDefault)
        return defaults.isEmpty ? scopes : Scopes(defaults)
    }

    /// Resources as they are kept and compared: in order, each once, every character as given.
    package static func sorted(resources: [String]) -> [String] {
        resources.count < 2 ? resources : Set(resources).sorted()
    }

    /// Scopes that were asked for and not granted; a provider that keeps `email` to the ID token is forgiven.
    package static func declined(asked: Scopes, granted: Scopes) -> Scopes {
        asked.subtracting(granted).subtracting(forgiven)
    }

    /// What an access token is filed under: also what its request was forgiven for, since asking again would change
    /// nothing but make each request a refresh.
    package static func filed(_ granted: Scopes, asked: Scopes) -> Scopes {
        granted.union(Scopes(asked.asGiven.filter { forgiven.normalized.contains($0.lowercased()) }))
    }

    package static let forgiven = Scopes(["email"])
}

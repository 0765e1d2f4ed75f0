import BrokerModel
import BrokerValues

/// The caller and the app of a grant or a request.
struct GrantSubject: Sendable, Hashable {
    var caller: CallerIdentity
    /// ``AppRegistration/identity``.
    var app: String
}

/// The part of an app that a grant is for, or that a request needs. `nil` means everything.
struct GrantedPart: Sendable, Equatable {
    var accountID: String?
    var scopes: Scopes?

    init(accountID: String? = nil, scopes: [String]? = nil) {
        self.accountID = accountID
        self.scopes = scopes.map { Scopes($0) }
    }

    /// Creates the smallest part that covers a request.
    ///
    /// - Parameter reach: names accounts by id (``AccessPolicy/byID(_:of:in:)``).
    init(needed reach: AppReach, by app: AppRegistration) {
        scopes = reach.scopes(by: app)
        accountID = reach.account?.id
    }

    func union(_ other: GrantedPart) -> GrantedPart {
        var both = GrantedPart()
        if let accountID, accountID == other.accountID { both.accountID = accountID }
        if let mine = scopes, let theirs = other.scopes { both.scopes = mine.union(theirs) }
        return both
    }

    /// Whether a request may proceed. The account that the broker would choose is not known yet: the grant then makes the choice
    /// (``GrantInUse``).
    ///
    /// - Parameter reach: names accounts by id (``AccessPolicy/byID(_:of:in:)``).
    func covers(_ reach: AppReach, by app: AppRegistration) -> Bool {
        switch reach {
        case .token(_, _, _, let account):
            if let scopes, let asked = reach.scopes(by: app), !asked.isSubset(of: scopes) { return false }
            return account == nil || coversAccount(of: reach)
        // A caller with some tokens may not remove the tokens of others.
        case .removal: return scopes == nil && coversAccount(of: reach)
        case .account, .everything: return coversAccount(of: reach)
        }
    }

    private func coversAccount(of reach: AppReach) -> Bool { accountID == nil || reach.account?.id == accountID }
}

extension AppReach {
    /// The scopes that a token would need, without those that every token may have; `nil` if none is asked for. A resource counts
    /// as one of the scopes: the same scope is another right elsewhere.
    func scopes(by app: AppRegistration) -> Scopes? {
        guard case .token(let asked, let resources, let extra, _) = self else { return nil }
        return (asked.isEmpty ? app.usualScopes : Scopes(asked)).union(Scopes(extra)).subtracting(.harmless)
            .union(Scopes(resources))
    }
}

extension AccountReference {
    /// The account's id. A name without its account stands for itself: no account has this id, and so nobody's tokens are meant.
    var id: String {
        switch self {
        case .id(let id): id
        case .username(let name): "username:\(name)"
        }
    }
}

extension Grant {
    var part: GrantedPart { GrantedPart(accountID: accountID, scopes: scopes) }

    /// Setting the clock back does not extend a grant.
    func isGood(at now: NumericDate) -> Bool {
        guard let expiresOn else { return true }
        return now < expiresOn && now >= createdOn - Self.clockTolerance
    }

    /// How far the clock may be set back, in seconds, before grants and requests from later end.
    static let clockTolerance: NumericDate = 300
}

/// The grant that admitted a request: the answer may not exceed it.
package struct GrantInUse: Sendable, Equatable {
    package let id: String
    /// The only account whose tokens may be used; `nil` for all.
    package let accountID: String?
    /// The most that a token may be good for; `nil` for no limit.
    package let scopes: Scopes?
    package let expiresOn: NumericDate?

    init(_ grant: Grant) {
        id = grant.id
        expiresOn = grant.expiresOn
        accountID = grant.accountID
        scopes = grant.part.scopes
    }

    /// Whether it allows the same, whenever it was granted.
    func isSame(as other: GrantInUse) -> Bool { accountID == other.accountID && scopes == other.scopes }

    /// Whether a token may be returned.
    ///
    /// - Parameter token: its scopes; `nil` if unknown.
    package func covers(accountID: String, scopes token: [String]?) -> Bool {
        guard self.accountID == nil || self.accountID == accountID else { return false }
        guard let scopes else { return true }
        return token.map { Scopes($0).subtracting(.harmless).isSubset(of: scopes) } ?? false
    }
}

import BrokerModel
import BrokerValues

/// Who asks, for which app: what grants and requests are about.
struct GrantSubject: Sendable, Hashable {
    var caller: CallerIdentity
    /// ``AppRegistration/identity``.
    var app: String
}

/// The part of an app that a grant is for, or that a request needs. Nil is all there is.
struct GrantedPart: Sendable, Equatable {
    var accountID: String?
    var scopes: Scopes?

    init(accountID: String? = nil, scopes: [String]? = nil) {
        self.accountID = accountID
        self.scopes = scopes.map { Scopes($0) }
    }

    /// The least that fulfils a request.
    init(needed reach: AppReach, by app: AppRegistration) {
        scopes = reach.scopes(by: app)
        switch reach {
        case .token(_, _, _, let account): accountID = account?.id
        case .account(let account), .removal(let account): accountID = account?.id
        case .everything: break
        }
    }

    func union(_ other: GrantedPart) -> GrantedPart {
        var both = GrantedPart()
        if let accountID, accountID == other.accountID { both.accountID = accountID }
        if let mine = scopes, let theirs = other.scopes { both.scopes = mine.union(theirs) }
        return both
    }

    /// Whether a request may go on. Which account the broker would choose is not known yet: the grant then makes the choice
    /// (``GrantInUse``). A username is nobody's id: who it is would have to be looked up first.
    func covers(_ reach: AppReach, by app: AppRegistration) -> Bool {
        switch reach {
        case .token(_, _, _, let account):
            if let scopes, let asked = reach.scopes(by: app), !asked.isSubset(of: scopes) { return false }
            return accountID == nil || account == nil || account?.id == accountID
        case .account(let account): return accountID == nil || account?.id == accountID
        // Whoever may have some tokens may not take away what others have.
        case .removal(let account): return scopes == nil && (accountID == nil || account?.id == accountID)
        case .everything: return accountID == nil
        }
    }
}

extension AppReach {
    /// What a token would have to be good for, without what every token may be; nil where none is asked for. A resource counts
    /// as one of the scopes: the same scope is another power elsewhere.
    func scopes(by app: AppRegistration) -> Scopes? {
        guard case .token(let asked, let resources, let extra, _) = self else { return nil }
        return (asked.isEmpty ? app.usualScopes : Scopes(asked)).union(Scopes(extra)).subtracting(.harmless)
            .union(Scopes(resources))
    }
}

extension AccountReference {
    fileprivate var id: String? { if case .id(let id) = self { id } else { nil } }
}

extension Grant {
    var part: GrantedPart { GrantedPart(accountID: accountID, scopes: scopes) }

    /// A clock that was set back makes nothing last longer.
    func isGood(at now: NumericDate) -> Bool {
        guard let expiresOn else { return true }
        return now < expiresOn && now >= createdOn - Self.clockTolerance
    }

    private static let clockTolerance: NumericDate = 300
}

/// The grant by which a request was let in: the answer may not go beyond it.
package struct GrantInUse: Sendable, Equatable {
    package let id: String
    /// Whose tokens only; nil for everybody's.
    package let accountID: String?
    /// What a token may be good for at most; nil for anything.
    package let scopes: Scopes?
    package let expiresOn: NumericDate?

    init(_ grant: Grant) {
        id = grant.id
        expiresOn = grant.expiresOn
        accountID = grant.accountID
        scopes = grant.part.scopes
    }

    /// Whether it allows the same, whenever it was given.
    func isSame(as other: GrantInUse) -> Bool { accountID == other.accountID && scopes == other.scopes }

    /// Whether a token may be handed out.
    ///
    /// - Parameter token: what it is good for; nil where nobody can tell.
    package func covers(accountID: String, scopes token: [String]?) -> Bool {
        guard self.accountID == nil || self.accountID == accountID else { return false }
        guard let scopes else { return true }
        return token.map { Scopes($0).subtracting(.harmless).isSubset(of: scopes) } ?? false
    }
}

import BrokerModel
import BrokerTokenCache
import BrokerValues

/// Chooses the account that a request is for. Pure: the result follows from what is known about the group.
package enum AccountChoice: Sendable {
    case account(KnownAccount)
    case unknown
    /// The accounts that would match if they were signed in.
    case signedOut([Account])
    case nobody
    case ambiguous([Account])

    /// - Parameters:
    ///   - selector: the account as the caller named it; `nil` means the only one that fits.
    ///   - app: the app whose sign-outs count.
    ///   - authority: the authority of the wanted token; an account of another provider does not fit.
    ///   - otherClouds: environments whose accounts fit as well (``CloudRules``).
    ///   - isAlive: whether a sign-in can still bring tokens. It is called only if several people have one username.
    package static func choose(
        _ selector: AccountReference?, from known: KnownAccounts, for app: AppRegistration, at authority: Authority,
        otherClouds: Set<String> = [], isAlive: (KnownAccount) -> Bool = { _ in true }
    ) -> AccountChoice {
        if let selector {
            let called = known.people(selector, at: authority, otherClouds: otherClouds)
            let signedIn = called.filter { known.isSignedIn($0, for: app) }
            guard let first = signedIn.first else {
                return called.isEmpty ? .unknown : .signedOut(called.map(\.account))
            }
            // A username may have been reassigned to another person.
            guard Set(signedIn.map(\.account.id)).count > 1 else { return .account(first) }
            let alive = signedIn.filter(isAlive)
            return alive.count == 1 ? .account(alive[0]) : .ambiguous(signedIn.map(\.account))
        }
        if let entry = known.onlyOne(for: app, at: authority, otherClouds: otherClouds) { return .account(entry) }
        let here = known.people(nil, at: authority, otherClouds: otherClouds)
        let signedIn = here.filter { known.isSignedIn($0, for: app) }
        guard signedIn.isEmpty else { return .ambiguous(signedIn.map(\.account)) }
        return here.isEmpty ? .nobody : .signedOut(here.map(\.account))
    }

    package func resolved(for app: AppRegistration) throws(BrokerError) -> KnownAccount {
        switch self {
        case .account(let entry): return entry
        case .unknown: throw Self.notFound
        case .signedOut(let accounts):
            throw BrokerError(
                .interactionRequired, "The account is signed out of \(app.name); sign in again.", reason: .signedOut
            ) {
                $0.accounts = accounts.map(\.afterSignOut)
            }
        case .nobody:
            throw BrokerError(
                .interactionRequired, "Nobody is signed in to \(app.name) yet; sign in first.", reason: .noTokens)
        case .ambiguous(let accounts): throw Self.ambiguous(accounts)
        }
    }

    static func ambiguous(_ accounts: [Account]) -> BrokerError {
        BrokerError(
            .ambiguousAccount,
            "Several accounts fit; say which one is meant, by its id where they share a username."
        ) { $0.accounts = accounts }
    }

    package static let notFound = BrokerError(
        .accountNotFound, "This app has no such account; list the accounts it has, or sign in.")
}

extension Account {
    /// The same account, as an app sees it after a sign-out.
    var afterSignOut: Account {
        var account = self
        account.signedIn = false
        return account
    }
}

import BrokerModel
import BrokerValues

/// Chooses the account that a request is for. Pure: the result follows from what is known about the group.
package enum AccountChoice: Sendable {
    case account(KnownAccounts.Entry)
    case unknown
    /// The accounts that would match if they were signed in.
    case signedOut([Account])
    case nobody
    case ambiguous([Account])

    /// - Parameters:
    ///   - selector: as the caller named it; `nil` means "the one that fits".
    ///   - app: the app whose sign-outs count.
    ///   - authority: where a token is wanted; an account of another provider does not fit.
    ///   - otherClouds: environments whose accounts fit as well (``CloudRules``).
    ///   - isAlive: whether anything of a sign-in is left. Called only if several people have one username.
    package static func choose(
        _ selector: AccountReference?, from known: KnownAccounts, for app: AppRegistration, at authority: Authority,
        otherClouds: Set<String> = [], isAlive: (KnownAccounts.Entry) -> Bool = { _ in true }
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

    package func resolved(for app: AppRegistration) throws(BrokerError) -> KnownAccounts.Entry {
        switch self {
        case .account(let entry): return entry
        case .unknown: throw Self.notFound
        case .signedOut(let accounts):
            throw BrokerError(
                .interactionRequired, "The account is signed out of \(app.name); sign in again.", reason: .signedOut
            ) {
                $0.accounts = accounts.map { account in
                    var account = account
                    account.signedIn = false
                    return account
                }
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

extension KnownAccounts {
    /// The number of people that a request may examine where it must not block.
    package static let fewPeople = 64

    /// Whether the lookup takes only a moment, however many people the group knows.
    func isQuick(_ selector: AccountReference?) -> Bool {
        if case .id(let id)? = selector, HomeAccountID.isEarlier(accountID: id) {
            return people.count <= Self.fewPeople
        }
        return (named(by: selector)?.count ?? people.count) <= Self.fewPeople
    }

    /// The people that a selector names, in the order in which they were first seen; all of them without a selector.
    ///
    /// - Parameter otherClouds: environments whose accounts fit as well (``CloudRules``).
    func people(
        _ selector: AccountReference?, at authority: Authority, otherClouds: Set<String>
    ) -> [Entry] {
        let entries = named(by: selector)?.flatMap(profiles) ?? people.values.flatMap(\.entries)
        return Self.sorted(
            entries.filter { $0.isPrimary && $0.fits(authority, otherClouds) && selector.map($0.matches) ?? true })
    }

    /// The person with an account id; several times where one host has several issuers.
    func people(called accountID: String) -> [Entry] {
        (named(by: .id(accountID)) ?? []).flatMap(profiles).filter { $0.isPrimary && $0.account.id == accountID }
    }

    /// The person for a request that names none.
    ///
    /// - Returns: `nil` if nobody is signed in, or more than one person.
    func onlyOne(for app: AppRegistration, at authority: Authority, otherClouds: Set<String>) -> Entry? {
        var found: Entry?
        var isOne = true
        people.forEach { person in
            for entry in person.entries
            where entry.isPrimary && entry.fits(authority, otherClouds) && isSignedIn(entry, for: app) {
                isOne = found == nil
                found = entry
            }
            return isOne
        }
        return isOne ? found : nil
    }

    /// `nil` means all.
    private func named(by selector: AccountReference?) -> [PersonKey]? {
        switch selector {
        case nil: nil
        case .id(let id) where HomeAccountID.isEarlier(accountID: id):
            Set(
                people.values.lazy.flatMap(\.entries).filter { $0.matches(.id(id)) }.map { PersonKey($0.stored.record) }
            )
            .map(\.self)
        case .id(let id): called[id] ?? []
        case .username(let name): called[name.lowercased()] ?? []
        }
    }
}

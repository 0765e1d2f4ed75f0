import BrokerModel
import BrokerValues

extension KnownAccounts {
    /// The number of people that a request may examine on a thread that must not block.
    package static let fewPeople = 64

    /// Whether the lookup takes only a moment, however many people the group knows.
    package func isQuick(_ selector: AccountReference?) -> Bool {
        if case .id(let id)? = selector, HomeAccountID.isEarlier(accountID: id) {
            return people.count <= Self.fewPeople
        }
        return (named(by: selector)?.count ?? people.count) <= Self.fewPeople
    }

    /// The people that a selector names, in the order in which they were first seen; all of them without a selector.
    ///
    /// - Parameter otherClouds: environments whose accounts fit as well (``CloudRules``).
    package func people(
        _ selector: AccountReference?, at authority: Authority, otherClouds: Set<String>
    ) -> [KnownAccount] {
        let entries = named(by: selector)?.flatMap(profiles) ?? people.values.flatMap(\.entries)
        return Self.sorted(
            entries.filter { $0.isPrimary && $0.fits(authority, otherClouds) && selector.map($0.matches) ?? true })
    }

    /// The person with an account id; several times where one host has several issuers.
    package func people(called accountID: String) -> [KnownAccount] {
        (named(by: .id(accountID)) ?? []).flatMap(profiles).filter { $0.isPrimary && $0.account.id == accountID }
    }

    /// The person for a request that names none.
    ///
    /// - Returns: `nil` if nobody is signed in, or more than one person.
    package func onlyOne(for app: AppRegistration, at authority: Authority, otherClouds: Set<String>) -> KnownAccount? {
        var found: KnownAccount?
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

    /// The keys of the people that a selector names; `nil` means all people.
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

    /// The accounts of all people, each once, from the app's point of view: signed in or not.
    package func visible(to app: AppRegistration) -> [Account] {
        entries.filter(\.isPrimary).map { $0.account(for: app, in: self) }
    }
}

extension KnownAccount {
    /// The account from an app's point of view: signed in or not.
    package func account(for app: AppRegistration, in known: KnownAccounts) -> Account {
        var account = account
        account.signedIn = known.isSignedIn(self, for: app)
        return account
    }
}

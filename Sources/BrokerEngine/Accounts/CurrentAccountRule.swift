import BrokerModel
import BrokerValues

/// `accounts.current`: for apps that have one account at a time (MSAL: `getCurrentAccount`). Pure.
package enum CurrentAccountRule {
    /// - Parameters:
    ///   - accounts: the accounts of the app's group, with ``Account/signedIn`` from the app's point of view.
    ///   - signedOutAt: the times of the accounts' sign-outs from the app, by account id.
    ///   - currentAt: the app's times of ``AccountRecord/currentFor``, by account id.
    /// - Throws: `ambiguousAccount` if several accounts are signed in.
    package static func among(
        _ accounts: [Account], signedOutAt: [String: NumericDate], currentAt: [String: NumericDate]
    ) throws(BrokerError) -> CurrentAccounts {
        var current: [Account] = []
        for account in accounts where account.signedIn && !current.contains(where: { $0.id == account.id }) {
            current.append(account)
        }
        guard current.count <= 1 else {
            throw BrokerError(
                .ambiguousAccount,
                "Several accounts are signed in; sign out all but one, or name the one that is meant."
            ) { $0.accounts = current }
        }
        let gone = accounts.filter { account in !account.signedIn && account.id != current.first?.id }
        let lastSignedOut = gone.max { (signedOutAt[$0.id] ?? 0) < (signedOutAt[$1.id] ?? 0) }
        // If two have the same second, the one that is signed in came later.
        let known = accounts.max {
            (currentAt[$0.id] ?? 0, $0.signedIn ? 1 : 0) < (currentAt[$1.id] ?? 0, $1.signedIn ? 1 : 0)
        }
        let isOther = known.map { currentAt[$0.id] != nil && $0.id != current.first?.id } ?? false
        return CurrentAccounts(
            current: current.first, previous: isOther ? known : nil, lastSignedOut: lastSignedOut)
    }
}

import BrokerModel
import BrokerTokenCache
import BrokerValues

extension AccountListing {
    /// Adds, to accounts that are signed in without a refresh token, the time when the last access token ends: after that only a
    /// new sign-in helps. Not for long lists: each account needs a look at its tokens.
    func tellingEnds(of accounts: [Account], for app: AppRegistration?, in partition: Partition) -> [Account] {
        guard accounts.count <= KnownAccounts.fewPeople, accounts.contains(where: \.signedIn) else { return accounts }
        var everyOwner: Set<TokenOwner> = []
        if app == nil {
            guard let all = try? cache.index.loadEveryOwner(in: partition) else { return accounts }
            everyOwner = all
        }
        return accounts.map { account in
            guard account.signedIn else { return account }
            let person = KnownAccounts.PersonKey(
                homeAccountID: HomeAccountID(rawValue: account.homeAccountId), environment: account.environment)
            let owners =
                app.map { app in
                    let owner = TokenOwner(of: person.homeAccountID, at: person.environment, for: app)
                    return [owner, owner.ofFamilies]
                } ?? Array(everyOwner.filter(person.owns))
            var account = account
            account.signInEndsOn = end(of: owners, in: partition)
            return account
        }
    }

    /// - Returns: `nil` if something that brings new tokens is left, or if that is unknown.
    private func end(of owners: [TokenOwner], in partition: Partition) -> NumericDate? {
        var last: NumericDate = 0
        for owner in owners {
            guard let tokens = try? cache.index.loadTokens(of: .init(partition: partition, owner: owner)),
                tokens.refreshTokens.isEmpty
            else { return nil }
            for token in tokens.accessTokens { last = max(last, token.stored.record.expiresOn) }
        }
        return last
    }
}

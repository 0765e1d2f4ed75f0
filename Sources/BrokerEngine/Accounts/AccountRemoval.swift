import BrokerModel
import BrokerTokenCache
import BrokerValues

/// `accounts.remove`: removes an account's tokens from one app (MSAL, "Accounts": the account stays for other apps).
///
/// Apps of one group that share a client share its tokens too. While another of them still uses the account, the tokens stay and
/// only this app is signed out.
struct AccountRemoval: Sendable {
    let listing: AccountListing
    let cache: TokenCache
    let roster: any AppRoster
    let events: EventHub
    let clock: any BrokerClock

    /// The account that was removed from the app.
    private struct Removed: Sendable {
        var accounts: [Account] = []
        var tokens = 0
        var change = AccountChange.signedOut
    }

    /// - Returns: the number of tokens that the app lost.
    func remove(
        _ selector: AccountReference, from app: AppRegistration, in partition: Partition
    ) async throws(BrokerError) -> Int {
        let account = try listing.require(selector, for: app, in: partition)
        let members = try roster.members(of: app.effectiveGroup, in: partition)
        let (removed, isPersisted) = try await cache.write(in: partition) { index throws(VaultError) in
            try decide(account.id, of: app, in: partition, members, from: index)
        }
        for account in removed.accounts.map(\.afterSignOut) {
            events.tell(EngineEvent(partition: partition, app: app, .account(removed.change, account)))
        }
        try cache.requirePersisted(
            isPersisted || removed.accounts.isEmpty,
            orTell:
                "The account is removed from memory, but the disk did not take it; make room and the broker will finish."
        )
        return removed.tokens
    }

    /// Runs in the write queue.
    private func decide(
        _ accountID: String, of app: AppRegistration, in partition: Partition, _ members: [GroupMember],
        from index: CacheIndex
    ) throws(VaultError) -> (change: CacheChange, answer: Removed) {
        var change = CacheChange(in: partition)
        let known = try index.loadAccounts(of: .init(of: app, in: partition))
        let entries = known.people(called: accountID).filter { known.isSignedIn($0, for: app) }
        guard let account = entries.first?.stored.record else { return (change, Removed()) }
        var removed = Removed(accounts: entries.map(\.account))
        let users = try AppsStillUsingAccount(
            of: known.profiles(of: account), besides: app, among: members, in: index, partition)
        let owner = OwnerKey(of: account, for: app, in: partition)
        removed.tokens = try index.loadTokens(of: owner).count
        if !users.shareTokens(of: app) { try change.deleteTokens(of: owner, in: index) }
        if users.isEmpty {
            // No app can use the account any more: delete all of it, including tokens of clients that no app has now.
            change.add(known.deletion(of: account))
            let person = KnownAccounts.PersonKey(account)
            for left in try index.loadEveryOwner(in: partition)
            where left.group == owner.owner.group && left != owner.owner && person.owns(left) {
                try change.deleteTokens(of: .init(partition: partition, owner: left), in: index)
            }
            removed.change = .removed
        } else {
            let signOut = SignOutRecord(of: account, from: app, since: clock.now)
            change.add(.signOut(.put(try cache.vault.seal(signOut, secret: nil, in: partition))))
        }
        return (change, removed)
    }
}

extension SignOutRecord {
    init(of account: AccountRecord, from app: AppRegistration, since now: NumericDate) {
        self.init(
            group: app.effectiveGroup, app: app.identity, homeAccountID: account.homeAccountID,
            environment: account.environment, since: now)
    }
}

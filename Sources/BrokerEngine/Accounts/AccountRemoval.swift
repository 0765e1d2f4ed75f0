import BrokerModel
import BrokerValues

/// `accounts.remove`: takes an account's tokens from one app (MSAL, "Accounts": the account stays for other apps).
///
/// Apps of one group that share a client share its tokens too. While another of them still uses the account, its tokens
/// stay and only this app is signed out.
struct AccountRemoval: Sendable {
    let services: EngineServices
    let app: AppRegistration
    let partition: Partition

    /// What was taken from the app.
    private struct Removed: Sendable {
        var accounts: [Account] = []
        var tokens = 0
        var change = AccountChange.signedOut
    }

    /// - Returns: how many tokens the app lost.
    func remove(_ selector: AccountReference) async throws(BrokerError) -> Int {
        let account = try AccountListing(services: services).require(selector, for: app, in: partition)
        let members = try services.roster.members(of: app.effectiveGroup, in: partition)
        let (removed, isPersisted) = try await services.write(in: partition) { index throws(VaultError) in
            try decide(account.id, members, from: index)
        }
        for var account in removed.accounts {
            account.signedIn = false
            services.events.tell(EngineEvent(partition: partition, app: app, .account(removed.change, account)))
        }
        guard isPersisted || removed.accounts.isEmpty else {
            throw BrokerError(
                .internal,
                "The account is removed from memory, but the disk did not take it; make room and the broker will finish.",
                reason: .vaultNotWritable)
        }
        return removed.tokens
    }

    /// In the write queue.
    private func decide(
        _ accountID: String, _ members: [GroupMember], from index: CacheIndex
    ) throws(VaultError) -> (change: CacheChange, answer: Removed) {
        var change = CacheChange(in: partition)
        let known = try index.loadAccounts(of: .init(of: app, in: partition))
        let entries = known.people(called: accountID).filter { known.isSignedIn($0, for: app) }
        guard let account = entries.first?.stored.record else { return (change, Removed()) }
        var removed = Removed(accounts: entries.map(\.account))
        let users = try AppsStillUsingAccount(
            of: known.profiles(of: account), besides: app, among: members, in: index, partition)
        let owner = CacheIndex.OwnerKey(of: account, for: app, in: partition)
        removed.tokens = try index.loadTokens(of: owner).count
        if !users.shareTokens(of: app) { try change.deleteTokens(of: owner, in: index) }
        if users.isEmpty {
            // Nobody is left who could use the account: nothing of it stays behind, also of clients that no app has any more.
            change.add(known.deletion(of: account))
            let person = KnownAccounts.PersonKey(account)
            for left in try index.loadEveryOwner(in: partition)
            where left.group == owner.owner.group && left != owner.owner && person.owns(left) {
                try change.deleteTokens(of: .init(partition: partition, owner: left), in: index)
            }
            removed.change = .removed
        } else {
            let signOut = SignOutRecord(of: account, from: app, since: services.clock.now)
            change.add(.signOut(.put(try services.vault.seal(signOut, secret: nil, in: partition))))
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

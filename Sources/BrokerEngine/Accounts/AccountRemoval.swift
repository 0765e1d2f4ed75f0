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

    /// - Returns: how many tokens the app lost.
    func remove(_ selector: AccountSelector) async throws(BrokerError) -> Int {
        let known = try services.knownAccounts(of: app, in: partition)
        let account = try AccountListing(services: services).requireUnique(selector, for: app, in: partition)
        var removed = 0
        for entry in known.entries where entry.isPrimary && entry.account.id == account.id {
            removed += try await remove(entry, known)
        }
        return removed
    }

    private func remove(_ entry: KnownAccounts.Entry, _ known: KnownAccounts) async throws(BrokerError) -> Int {
        guard known.isSignedIn(entry, for: app) else { return 0 }
        let owner = owner(of: entry, client: app.clientID)
        let tokens = try services.tokens(of: owner)
        let users = try otherUsers(of: entry)
        var change = CacheChange(in: partition)
        if !users.contains(where: { $0.clientID == app.clientID }) {
            tokens.deletion(from: owner.owner).forEach { change.add($0) }
        }
        let account = entry.stored.record
        if users.isEmpty {
            // Nobody is left who could use the account: nothing of it stays behind.
            known.deletion(of: account).forEach { change.add($0) }
            let families = try services.tokens(of: owner.ofFamilies)
            families.deletion(from: owner.ofFamilies.owner).forEach { change.add($0) }
        } else {
            let signOut = SignOutRecord(
                group: app.effectiveGroup, app: app.identity, homeAccountID: account.homeAccountID,
                environment: account.environment, since: services.clock.now)
            change.add(
                .signOut(
                    .put(
                        try services.reading { () throws(VaultError) in
                            try services.vault.seal(signOut, secret: nil, in: partition)
                        })))
        }
        let final = change
        let isPersisted = try await services.write { _ in (final, ()) }.isPersisted
        tell(of: entry.account, users.isEmpty ? .removed : .signedOut)
        guard isPersisted else {
            throw BrokerError(
                .internal,
                "The account is removed from memory, but the disk did not take it; make room and the broker will finish.",
                reason: .vaultNotWritable)
        }
        return tokens.count
    }

    /// Apps of the group that are signed in and have tokens of the account.
    func otherUsers(of entry: KnownAccounts.Entry) throws(BrokerError) -> [GroupMember] {
        let known = try services.knownAccounts(of: app, in: partition)
        var users: [GroupMember] = []
        for other in try services.roster.members(of: app.effectiveGroup, in: partition)
        where other.identity != app.identity && known.isSignedIn(entry, for: other.identity) {
            let theirs = try services.tokens(of: owner(of: entry, client: other.clientID))
            if theirs.count > 0 { users.append(other) }
        }
        return users
    }

    private func tell(of account: Account, _ change: AccountChange) {
        var account = account
        account.signedIn = false
        services.events.tell(EngineEvent(partition: partition, app: app, .account(change, account)))
    }

    private func owner(of entry: KnownAccounts.Entry, client: String) -> CacheIndex.OwnerKey {
        CacheIndex.OwnerKey(
            partition: partition,
            owner: TokenOwner(
                group: app.effectiveGroup, clientID: client, homeAccountID: entry.stored.record.homeAccountID,
                environment: entry.stored.record.environment))
    }
}

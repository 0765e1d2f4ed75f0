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
        let isShared = users.contains { $0.clientID == app.clientID }
        var change = VaultChange(in: partition, deletes: isShared ? [] : tokens.keys(of: owner.owner))
        let account = entry.stored.record
        let signOut = SignOutRecord(
            group: app.effectiveGroup, app: app.identity, homeAccountID: account.homeAccountID,
            environment: account.environment, since: services.clock.now)
        if users.isEmpty {
            // Nobody is left who could use the account: nothing of it stays behind.
            change.deletes += known.entries.filter(entry.isSamePerson).map(\.stored.record.key)
            change.deletes += known.signOuts(of: account).map { $0.key(in: app.effectiveGroup) }
            change.deletes += try services.tokens(of: owner.ofFamilies).familyTokens.map(\.record.key)
        } else {
            let sealed = try services.reading { () throws(VaultError) in
                try services.vault.seal(signOut, secret: nil, in: partition).sealed
            }
            change.puts.append(sealed)
        }
        let group = CacheIndex.GroupKey(partition: partition, group: app.effectiveGroup)
        let (isUnused, final) = (users.isEmpty, change)
        let outcome = await services.writer.write { () throws(VaultError) in
            final
        } apply: { index throws(VaultError) in
            try index.update(accounts: group) { known in
                if isUnused {
                    known.entries.removeAll(where: entry.isSamePerson)
                    known.signOuts.subtract(known.signOuts(of: account))
                } else {
                    known.signOuts.insert(KnownAccounts.SignOut(signOut))
                }
            }
            if !isShared { try index.update(tokens: owner) { $0 = CachedTokens() } }
            if isUnused { try index.update(tokens: owner.ofFamilies) { $0 = CachedTokens() } }
        }
        tell(of: entry.account, isUnused ? .removed : .signedOut)
        switch outcome {
        case .failure(let error): throw BrokerError(error)
        case .success(false):
            throw BrokerError(
                .internal,
                "The account is removed from memory, but the disk did not take it; make room and the broker will finish.",
                reason: .vaultNotWritable)
        case .success(true): return tokens.count
        }
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

extension KnownAccounts {
    func signOuts(of account: AccountRecord) -> Set<SignOut> {
        signOuts.filter { $0.homeAccountID == account.homeAccountID && $0.environment == account.environment }
    }
}

extension KnownAccounts.SignOut {
    func key(in group: GroupID) -> RecordKey {
        SignOutRecord(group: group, app: app, homeAccountID: homeAccountID, environment: environment, since: 0).key
    }
}

extension CachedTokens {
    func keys(of owner: TokenOwner) -> [RecordKey] {
        accessTokens.map(\.stored.record.key) + refreshTokens.map(\.record.key)
            + [proofKey?.record.key].compactMap(\.self)
            + idTokens.keys.map { IDTokenRecord(owner: owner, realm: $0, cachedAt: 0).key }
    }
}

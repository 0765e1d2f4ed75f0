import BrokerModel
import BrokerValues

/// The part of a sign-out that needs nobody else: tokens go, and the account is remembered as signed out.
///
/// Decided in the write queue, from what there is when its turn comes: a refresh or a sign-in may have just been filed.
struct LocalSignOut: Sendable {
    let reach: SignOutReach
    /// Nil for the person's own tools.
    let app: AppRegistration?
    /// Of the app's group, for a sign-out that spares others.
    let members: [GroupMember]
    let partition: Partition
    let now: NumericDate

    /// What was signed out, for the stages that come after.
    struct Outcome: Sendable {
        /// In every group that it reached.
        var accounts: [KnownAccounts.Entry] = []
        /// Nobody else has them.
        var refreshTokens: [StoredRecord<RefreshTokenRecord>] = []
        /// Whose tokens went.
        var owners: [CacheIndex.OwnerKey] = []
        /// By client: tells the provider whose session is to end.
        var idTokens: [ExactText: SealedRecord] = [:]
        /// Another app goes on using the tokens.
        var isShared = false
    }

    func decide(
        _ account: AccountRecord, from index: CacheIndex, _ vault: any RecordVault
    ) throws(VaultError) -> (change: CacheChange, outcome: Outcome) {
        let groups: Set<GroupID>? = reach == .everything ? nil : app.map { [$0.effectiveGroup] }
        var outcome = Outcome()
        outcome.accounts = try index.loadEveryAccount(in: partition).filter {
            $0.isPerson(of: account) && groups?.contains($0.stored.record.group) ?? true
        }
        var change = CacheChange(in: partition)
        var client: String?
        if let app, reach.sparesOthers {
            let others = try AppsStillUsingAccount(
                of: outcome.accounts, besides: app, among: members, in: index, partition)
            outcome.isShared = others.shareTokens(of: app)
            // When nobody else uses the account, nothing of it stays behind, whichever client it was for.
            client = others.isEmpty ? nil : app.clientID
        }
        let owners = try index.loadEveryOwner(in: partition).filter { owner in
            owner.homeAccountID == account.homeAccountID && owner.environment == account.environment
                && groups?.contains(owner.group) ?? true && client.map(owner.clientID.isExactly) ?? true
        }
        for owner in owners.sorted(by: { $0.bucket.lexicographicallyPrecedes($1.bucket) }) {
            let key = CacheIndex.OwnerKey(partition: partition, owner: owner)
            let tokens = try index.loadTokens(of: key)
            if let idToken = tokens.idTokens[account.realm] ?? tokens.idTokens.values.first {
                let client = ExactText(owner.clientID)
                outcome.idTokens[client] = outcome.idTokens[client] ?? idToken
            }
            guard !outcome.isShared else { continue }
            outcome.refreshTokens += tokens.refreshTokens
            outcome.owners.append(key)
            try change.deleteTokens(of: key, in: index)
        }
        if let app, client != nil {
            let signOut = SignOutRecord(of: account, from: app, since: now)
            change.add(.signOut(.put(try vault.seal(signOut, secret: nil, in: partition))))
            return (change, outcome)
        }
        for var record in outcome.accounts.map(\.stored.record) {
            record.signedIn = false
            record.signedOutAt = now
            change.add(.account(.put(try vault.seal(record, secret: nil, in: partition))))
        }
        return (change, outcome)
    }
}

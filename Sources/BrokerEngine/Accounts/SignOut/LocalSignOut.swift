import BrokerModel
import BrokerTokenCache
import BrokerValues

/// The local part of a sign-out: removes tokens and remembers that the account is signed out.
///
/// Decided in the write queue, from the state at that time: a refresh or a sign-in may have just been filed.
struct LocalSignOut: Sendable {
    let reach: SignOutReach
    /// The app that asked; `nil` for the person's own tools.
    let app: AppRegistration?
    /// The members of the app's group, for a sign-out that spares other apps.
    let members: [GroupMember]
    let partition: Partition
    let now: NumericDate

    /// The sign-ins that ended, for the later stages.
    struct Outcome: Sendable {
        /// The accounts in every group that was reached.
        var accounts: [KnownAccount] = []
        /// Tokens that no other app has.
        var refreshTokens: [StoredRecord<RefreshTokenRecord>] = []
        /// The owners whose tokens were removed.
        var owners: [OwnerKey] = []
        /// One ID token for each client, as a hint for the provider about the session to end.
        var idTokens: [ExactText: SealedRecord] = [:]
        /// Whether another app still uses refresh tokens.
        var isShared = false
    }

    /// Whether it ends the sign-ins of an app that are under way: their tokens would undo it.
    func reaches(_ signIn: InteractionClaim) -> Bool {
        switch reach {
        case .everything: true
        case .group: signIn.group == app?.effectiveGroup
        case .app: signIn.app == app?.identity
        }
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
        var (client, staysHere): (String?, Bool) = (nil, false)
        if let app, reach.sparesOthers {
            let others = try AppsStillUsingAccount(
                of: outcome.accounts, besides: app, among: members, in: index, partition)
            staysHere = others.shareTokens(of: app)
            // If no other app uses the account, remove all of it, for whichever client it was.
            client = others.isEmpty ? nil : app.clientID
        }
        let owners = try index.loadEveryOwner(in: partition).filter { owner in
            owner.homeAccountID == account.homeAccountID && owner.environment == account.environment
                && groups?.contains(owner.group) ?? true && client.map(owner.clientID.isExactly) ?? true
        }
        let usedElsewhere = try origins(sharedBeyond: owners, in: index)
        outcome.isShared = staysHere || !usedElsewhere.isEmpty
        for owner in owners.sorted(by: { $0.bucket.lexicographicallyPrecedes($1.bucket) }) {
            let key = OwnerKey(partition: partition, owner: owner)
            let tokens = try index.loadTokens(of: key)
            if let idToken = tokens.idTokens[account.realm] ?? tokens.idTokens.values.first {
                let client = ExactText(owner.clientID)
                outcome.idTokens[client] = outcome.idTokens[client] ?? idToken
            }
            guard !staysHere else { continue }
            outcome.refreshTokens += tokens.refreshTokens.filter {
                $0.record.origin.map { !usedElsewhere.contains($0) } ?? true
            }
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

    /// The origins of imported refresh tokens that others have, too (decision 10).
    private func origins(
        sharedBeyond owners: Set<TokenOwner>, in index: CacheIndex
    ) throws(VaultError) -> Set<String> {
        var origins: Set<String> = []
        for owner in owners {
            let tokens = try index.loadTokens(of: OwnerKey(partition: partition, owner: owner))
            origins.formUnion(tokens.refreshTokens.compactMap(\.record.origin))
        }
        let twins = try index.loadRefreshTokens(ofOrigins: origins, in: partition, from: index.loadTokens)
        return Set(twins.map(\.record).filter { !owners.contains($0.owner) }.compactMap(\.origin))
    }
}

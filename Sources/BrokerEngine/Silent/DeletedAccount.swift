import BrokerModel
import BrokerTokenCache
import BrokerValues
import Logging

/// Removes an account that its provider reports as deleted (`user_account_deleted`) from the app's group, with all of its records,
/// as MSAL does. Other groups find out with a token of their own (decision 19).
struct DeletedAccount: Sendable {
    let cache: TokenCache
    let throttle: ThrottleBox
    let events: EventHub
    let log: Logger

    /// - Parameter token: the refused token. If a sign-in has replaced it meanwhile, the account exists again.
    func remove(
        _ account: AccountRecord, from app: AppRegistration, asToldFor token: StoredRecord<RefreshTokenRecord>
    ) async {
        let partition = token.sealed.partition
        let removed: [KnownAccount]
        do throws(VaultError) {
            removed = try await cache.writer.write(in: partition) { index throws(VaultError) in
                try decide(KnownAccounts.PersonKey(account), token, from: index)
            }.answer
        } catch {
            log.error("a deleted account could not be removed", metadata: ["cause": "\(error)"])
            return
        }
        for entry in removed where entry.isPrimary {
            let account = entry.account.afterSignOut
            log.notice(
                "an account was removed: its provider says that it was deleted",
                metadata: ["account_id": "\(account.id)", "environment": "\(account.environment)"])
            events.tell(
                EngineEvent(partition: partition, app: app, .account(.removed, account), isReportedByProvider: true))
        }
    }

    /// Runs in the write queue.
    private func decide(
        _ person: KnownAccounts.PersonKey, _ token: StoredRecord<RefreshTokenRecord>, from index: CacheIndex
    ) throws(VaultError) -> (change: CacheChange, answer: [KnownAccount]) {
        let (owner, partition) = (token.record.owner, token.sealed.partition)
        var change = CacheChange(in: partition)
        guard try index.loadTokens(of: .init(partition: partition, owner: owner)).holds(token) else {
            return (change, [])
        }
        let known = try index.loadAccounts(of: .init(partition: partition, group: owner.group))
        change.add(known.deletion(of: person))
        for other in try index.loadEveryOwner(in: partition) where other.group == owner.group && person.owns(other) {
            try change.deleteTokens(of: .init(partition: partition, owner: other), in: index)
        }
        throttle.clear(person, of: owner.group, in: partition)
        return (change, known.profiles(of: person))
    }
}

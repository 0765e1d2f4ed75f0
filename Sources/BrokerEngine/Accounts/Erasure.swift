import BrokerModel
import BrokerTokenCache
import BrokerValues

/// Implements `accounts.forget` and `cache.clear`: removes all records of one account, or of all, from every app and group.
///
/// A sign-out remembers the account, so that the next sign-in asks for the password; an erasure does not. Tokens that a refresh or
/// a sign-in brings afterwards, if it began before, are not kept but revoked at the provider.
package struct Erasure: Sendable {
    let listing: AccountListing
    let cache: TokenCache
    let roster: any AppRoster
    let interactions: InteractionRegistry
    let flights: RefreshFlights
    let throttle: ThrottleBox
    let events: EventHub
    let revocation: TokenRevocation

    private struct Erased: Sendable {
        var accounts: [KnownAccount] = []
        var refreshTokens: [StoredRecord<RefreshTokenRecord>] = []
        var tokens = 0
        var isEmpty = true
    }

    /// - Parameters:
    ///   - account: `nil` for all accounts. The registrations stay.
    ///   - revoke: whether refresh tokens are also revoked at their providers.
    /// - Throws: `accountNotFound`, `ambiguousAccount`.
    package func run(
        _ account: AccountReference?, revoke: Bool, correlationID: String, in partition: Partition
    ) async throws(BrokerError) -> ErasureReport {
        let person = try account.map { selector throws(BrokerError) in try self.person(selector, in: partition) }
        let (erased, isPersisted) = try await cache.write(in: partition) { index throws(VaultError) in
            try decide(person, in: partition, from: index)
        }
        tell(erased.accounts, in: partition)
        var report = ErasureReport()
        report.accounts = Set(erased.accounts.map { KnownAccounts.PersonKey($0.stored.record) }).count
        report.tokens = erased.tokens
        // Even if the disk refused the change: the tokens cannot be found again later.
        if revoke {
            report.revocation = await revocation.revoke(
                erased.refreshTokens, as: roster.apps(in: partition), correlationID: correlationID)
        }
        try cache.requirePersisted(
            isPersisted || erased.isEmpty,
            orTell: "It is erased from memory, but the disk did not take it; make room and the broker will finish.")
        return report
    }

    private static let forgotten = BrokerError(
        .userCanceled,
        "The account was erased during the sign-in, so nothing of it was kept; sign in again if that was not meant.")

    /// - Throws: `accountNotFound`, `ambiguousAccount`.
    private func person(
        _ selector: AccountReference, in partition: Partition
    ) throws(BrokerError) -> KnownAccounts.PersonKey {
        let account = try listing.require(selector, for: nil, in: partition)
        return KnownAccounts.PersonKey(
            homeAccountID: HomeAccountID(rawValue: account.homeAccountId), environment: account.environment)
    }

    /// Runs in the write queue: a refresh or a sign-in may have just been filed.
    private func decide(
        _ person: KnownAccounts.PersonKey?, in partition: Partition, from index: CacheIndex
    ) throws(VaultError) -> (change: CacheChange, answer: Erased) {
        var change = CacheChange(in: partition)
        var erased = Erased()
        for group in try index.loadEveryGroup(in: partition) {
            let known = try index.loadAccounts(of: .init(partition: partition, group: group))
            erased.accounts += person.map(known.profiles) ?? known.entries
            change.add(known.deletion(of: person))
        }
        var owners: [OwnerKey] = []
        for owner in try index.loadEveryOwner(in: partition) where person?.owns(owner) ?? true {
            let key = OwnerKey(partition: partition, owner: owner)
            let tokens = try index.loadTokens(of: key)
            erased.refreshTokens += tokens.refreshTokens
            erased.tokens += tokens.count
            owners.append(key)
            try change.deleteTokens(of: key, in: index)
        }
        if person == nil { change.add(try index.deletionOfMetadata(in: partition)) }
        erased.isEmpty = change.isEmpty
        // Before the next job in the queue, which may be the result of a refresh or a sign-in.
        flights.revoke(owners)
        interactions.erase(person, in: partition, with: Self.forgotten)
        for account in erased.accounts.map(\.stored.record) {
            throttle.clear(.init(account), of: account.group, in: partition)
        }
        return (change, erased)
    }

    /// Notifies once for each person in each group.
    private func tell(_ accounts: [KnownAccount], in partition: Partition) {
        let apps = roster.apps(in: partition)
        for entry in accounts where entry.isPrimary {
            guard let app = apps.first(where: { $0.effectiveGroup == entry.stored.record.group }) else { continue }
            events.tell(EngineEvent(partition: partition, app: app, .account(.removed, entry.account.afterSignOut)))
        }
    }
}

import BrokerModel
import BrokerTokenCache
import BrokerValues

/// Replaces a person's records in the vault, and drops them from memory, so that they are read again.
package struct PartitionReplacement: Sendable {
    let cache: TokenCache
    let roster: any AppRoster
    let interactions: InteractionRegistry

    /// Erases everything of a person, in the vault and in memory. Sign-ins end. A refresh in flight then finds no signed-in account,
    /// and its result is not kept.
    package func erase(_ partition: Partition, from store: any PartitionStore) async throws(BrokerError) {
        try await replace(partition) { [interactions] () throws(VaultError) in
            try await store.erase(partition)
            interactions.erase(nil, in: partition, with: Self.removed)
        }
    }

    /// Accepts the vault as it is, although its last state was replaced by an earlier one.
    package func acceptState(of partition: Partition) async throws(BrokerError) {
        try await replace(partition) { [vault = cache.vault] () throws(VaultError) in
            try await vault.acceptState(of: partition)
        }
    }

    /// Runs `body` while no change of the person's cache is written, and drops their records from memory afterwards.
    private func replace(
        _ partition: Partition, _ body: @escaping @Sendable () async throws(VaultError) -> Void
    ) async throws(BrokerError) {
        let outcome = await cache.writer.aside(in: partition) {
            [index = cache.index, roster] isFlushed -> Result<Void, BrokerError> in
            guard isFlushed else { return .failure(Self.notWritten) }
            do throws(VaultError) { try await body() } catch { return .failure(BrokerError(error)) }
            index.forget(partition)
            roster.forget()
            return .success(())
        }
        try outcome.get()
    }

    private static let removed = BrokerError(
        .userCanceled, "The sign-in was ended because an administrator removed what the broker had of this user.")
    private static let notWritten = BrokerError(
        .internal, "The disk has not taken everything yet; make room, and try again.", reason: .vaultNotWritable)
}

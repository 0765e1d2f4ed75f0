import BrokerModel
import BrokerValues

extension TokenBroker {
    /// Erases everything of a person, in the vault and in memory. A refresh that is under way finds nobody who is signed in, and
    /// what it brings is not kept.
    package func erase(_ partition: Partition, from store: any PartitionStore) async throws(BrokerError) {
        services.interactions.endAll(Self.removed, in: partition)
        guard await services.writer.flush(partition) else {
            throw BrokerError(
                .internal, "The disk has not taken everything yet; make room, and try again.", reason: .vaultNotWritable
            )
        }
        do throws(VaultError) { try await store.erase(partition) } catch { throw BrokerError(error) }
        services.index.forget()
        services.roster.forget()
    }

    private static let removed = BrokerError(
        .userCanceled, "The sign-in was ended because an administrator removed what the broker had of this user.")
}

import BrokerModel
import BrokerValues

extension TokenBroker {
    /// Erases everything of a person, in the vault and in memory. A refresh that is under way finds nobody who is signed in, and
    /// what it brings is not kept.
    package func erase(_ partition: Partition, from store: any PartitionStore) async throws(BrokerError) {
        services.interactions.endAll(Self.removed, in: partition)
        try await services.replacing(partition) { () throws(VaultError) in try await store.erase(partition) }
    }

    /// Says that the vault is right as it is, although an earlier state was put in place of the last one.
    package func acceptState(of partition: Partition) async throws(BrokerError) {
        try await services.replacing(partition) { [vault = services.vault] () throws(VaultError) in
            try await vault.acceptState(of: partition)
        }
    }

    private static let removed = BrokerError(
        .userCanceled, "The sign-in was ended because an administrator removed what the broker had of this user.")
}

extension EngineServices {
    /// Does what makes the disk another than memory knows it, while nothing of the person is written: afterwards it is read anew.
    fileprivate func replacing(
        _ partition: Partition, _ body: @escaping @Sendable () async throws(VaultError) -> Void
    ) async throws(BrokerError) {
        let outcome = await writer.aside(in: partition) { [index, roster] isFlushed -> Result<Void, BrokerError> in
            guard isFlushed else { return .failure(Self.notWritten) }
            do throws(VaultError) { try await body() } catch { return .failure(BrokerError(error)) }
            index.forget(partition)
            roster.forget()
            return .success(())
        }
        try outcome.get()
    }

    private static let notWritten = BrokerError(
        .internal, "The disk has not taken everything yet; make room, and try again.", reason: .vaultNotWritable)
}

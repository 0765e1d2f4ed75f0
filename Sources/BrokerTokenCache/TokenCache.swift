import BrokerModel
import BrokerValues
import Logging

/// The accounts and tokens of all people: read from memory or else the vault, and written to both. Failures of the vault become
/// errors for callers.
package final class TokenCache: Sendable {
    package let vault: any RecordVault
    package let index: CacheIndex
    package let writer: CacheWriter
    private let log: Logger

    /// - Parameter retryInterval: the time after which writes that the disk refused are tried again.
    package init(
        vault: any RecordVault, clock: any BrokerClock, retryInterval: @escaping @Sendable () -> Duration, log: Logger
    ) {
        self.vault = vault
        self.log = log
        index = CacheIndex(vault: vault)
        writer = CacheWriter(vault: vault, index: index, clock: clock, retryInterval: retryInterval, log: log)
    }

    // MARK: Reading

    package func accounts(of app: AppRegistration, in partition: Partition) throws(BrokerError) -> KnownAccounts {
        try reading { () throws(VaultError) in try index.loadAccounts(of: .init(of: app, in: partition)) }
    }

    package func tokens(of owner: OwnerKey) throws(BrokerError) -> CachedTokens {
        try reading { () throws(VaultError) in try index.loadTokens(of: owner) }
    }

    package func family(of owner: OwnerKey) throws(BrokerError) -> FamilyKnowledge {
        try reading { () throws(VaultError) in
            let tokens = try index.loadTokens(of: owner.ofFamilies).familyTokens
            guard !tokens.isEmpty else { return FamilyKnowledge() }
            return FamilyKnowledge(try index.loadMembership(of: owner.client), tokens: tokens)
        }
    }

    package func secret(of sealed: SealedRecord) throws(BrokerError) -> Secret {
        try reading { () throws(VaultError) in try vault.secret(of: sealed) }
    }

    /// Reads from the vault and maps its failure to an error for the caller.
    package func reading<Value>(_ body: () throws(VaultError) -> Value) throws(BrokerError) -> Value {
        do throws(VaultError) {
            return try body()
        } catch {
            log.error("the vault could not be read", metadata: ["cause": "\(error)"])
            throw BrokerError(error)
        }
    }

    /// Requires that the vault was not put back to an earlier state: an import is compared with existing tokens and sign-outs.
    ///
    /// - Throws: `accessDenied` (`vaultRolledBack`).
    package func requireCertain(_ partition: Partition) throws(BrokerError) {
        guard vault.isRolledBack(partition) else { return }
        throw BrokerError(
            .accessDenied,
            "An earlier vault was put in place of the last one, so an import could undo later sign-outs; look at brokerctl accounts list, run brokerctl cache accept-restore, then import.",
            reason: .vaultRolledBack)
    }

    // MARK: Writing

    /// ``CacheWriter/write(in:_:)``, with an error for the caller.
    package func write<Answer: Sendable>(
        in partition: Partition,
        _ decide: @escaping @Sendable (CacheIndex) throws(VaultError) -> (change: CacheChange, answer: Answer)
    ) async throws(BrokerError) -> (answer: Answer, isPersisted: Bool) {
        try await changing { () async throws(VaultError) in try await writer.write(in: partition, decide) }
    }

    /// ``CacheWriter/writeTogether(in:_:)``, with an error for the caller.
    package func writeTogether<Answer: Sendable>(
        in partition: Partition,
        _ decide: @escaping @Sendable (PendingChanges) throws(VaultError) -> (change: CacheChange, answer: Answer)
    ) async throws(BrokerError) -> (answer: Answer, isPersisted: Bool) {
        try await changing { () async throws(VaultError) in try await writer.writeTogether(in: partition, decide) }
    }

    /// - Throws: `internal` (`vaultNotWritable`) if the disk does not have a change.
    package func requirePersisted(_ isPersisted: Bool, orTell message: String) throws(BrokerError) {
        guard isPersisted else { throw BrokerError(.internal, message, reason: .vaultNotWritable) }
    }

    private func changing<Value>(_ body: () async throws(VaultError) -> Value) async throws(BrokerError) -> Value {
        do throws(VaultError) {
            return try await body()
        } catch {
            log.error("the cache could not be changed", metadata: ["cause": "\(error)"])
            throw BrokerError(error)
        }
    }

    /// ``CacheWriter/writeTogether(in:_:)`` for a change that no caller waits for.
    ///
    /// - Parameter complaint: for the log, if nothing was changed.
    /// - Returns: `nil` if nothing was changed.
    @discardableResult
    package func note<Answer: Sendable>(
        in partition: Partition, orLog complaint: Logger.Message,
        _ decide: @escaping @Sendable (PendingChanges) throws(VaultError) -> (change: CacheChange, answer: Answer)
    ) async -> Answer? {
        do throws(VaultError) {
            return try await writer.writeTogether(in: partition, decide).answer
        } catch {
            log.error(complaint, metadata: ["cause": "\(error)"])
            return nil
        }
    }
}

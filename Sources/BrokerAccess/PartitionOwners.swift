import BrokerModel
import BrokerValues
import Logging
import Synchronization

/// Holds the users of a broker to the accounts that their partitions were made for: a new account may get the uid of one that was
/// deleted, and is not to get its tokens (docs/decisions/0055).
package final class PartitionOwners: Sendable {
    /// After so long an account is looked up again.
    static let certainty = Duration.seconds(60)

    private struct Known {
        var account: String?
        var isBound: Bool
        var lookedUp: Duration
    }

    private let vault: any RecordVault
    private let accounts: any AccountNames
    private let clock: any BrokerClock
    private let log: Logger
    private let known = Mutex<[Partition: Known]>([:])

    package init(vault: any RecordVault, accounts: any AccountNames, clock: any BrokerClock, log: Logger) {
        self.vault = vault
        self.accounts = accounts
        self.clock = clock
        self.log = log
    }

    /// Part of the hot path: a look-up, but for once a minute.
    ///
    /// - Throws: `accessDenied` for an account that the partition is not of.
    package func check(_ partition: Partition) throws(BrokerError) {
        let now = clock.uptime
        if let known = known.withLock({ $0[partition] }), now - known.lookedUp < Self.certainty { return }
        let account: String?
        do throws(AccountNamesUnavailable) { account = try accounts.name(of: partition.uid) } catch {
            log.error(
                "an account could not be looked up",
                metadata: ["uid": "\(partition.uid)", "errno": "\(error.code)"])
            throw BrokerError(
                .serverUnavailable, "Whose uid \(partition.uid) is cannot be looked up now; try again in a moment.")
        }
        let owner: PartitionOwnerRecord?
        do throws(VaultError) {
            owner = try vault.load(PartitionOwnerRecord.self, bucket: [], in: partition).first?.record
        } catch {
            throw Self.unavailable(error)
        }
        guard owner == nil || owner?.account == account else {
            known.withLock { $0[partition] = nil }
            log.warning("the records of a uid are another account's", metadata: ["uid": "\(partition.uid)"])
            throw BrokerError(
                .accessDenied,
                "What the broker keeps for uid \(partition.uid) is of another account, which had this uid before; an administrator erases it with brokerctl partitions remove \(partition.uid).",
                reason: .otherAccount)
        }
        known.withLock { $0[partition] = Known(account: account, isBound: owner != nil, lookedUp: now) }
    }

    /// Writes down whose the partition is, before anything else is kept in it. ``check(_:)`` comes first.
    package func bind(_ partition: Partition) async throws(BrokerError) {
        guard let found = known.withLock({ $0[partition] }), !found.isBound else { return }
        do throws(VaultError) {
            let record = try vault.seal(PartitionOwnerRecord(account: found.account), secret: nil, in: partition).sealed
            try await vault.commit(VaultChange(in: partition, puts: [record]))
        } catch {
            throw Self.unavailable(error)
        }
        known.withLock { $0[partition]?.isBound = true }
    }

    /// The vault has nothing of the partition any more.
    package func forget(_ partition: Partition) { known.withLock { $0[partition] = nil } }

    private static func unavailable(_ error: VaultError) -> BrokerError {
        if error == .locked { return BrokerError(.locked, error.description, cause: error) }
        return BrokerError(
            .internal, "Whose records these are could not be read or written; see the broker's log, and try again.",
            reason: .vaultNotWritable, cause: error)
    }
}

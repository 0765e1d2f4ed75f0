import BrokerModel
import BrokerValues
import Logging
import Synchronization

/// Restricts each partition to the account that it was made for: a new account may get the uid of a deleted one, and must not get
/// its tokens (docs/decisions/0033).
package final class PartitionOwners: Sendable {
    /// The age after which an account is looked up again for a connection that stays open.
    static let certainty = Duration.seconds(60)
    /// How long a request waits for a lookup.
    static let patience = Duration.seconds(10)
    /// The limit of lookups in progress, each for a different uid. A lookup that hangs keeps its slot. Users have
    /// shares, in which their subordinate uids count.
    static let maximumLookUps = 64
    /// The number of uids that are remembered. When it is reached, the user with the most loses one.
    static let maximumKnown = 4_096

    private struct Known {
        var account: String?
        var isBound: Bool
        /// The uptime when the lookup began.
        var lookedUp: Duration
    }

    private typealias Outcome = Result<Known, BrokerError>

    private struct LookUp {
        let promise = Promise<Outcome>()
        let payer: Partition
        let began: Duration
    }

    private struct State {
        var known = FairCache<Partition, Partition, Known>(limit: PartitionOwners.maximumKnown)
        /// One lookup at a time for a uid, shared by all waiting requests.
        var lookUps: [Partition: LookUp] = [:]
        private var places = FairQuota<Partition, Partition>(limit: PartitionOwners.maximumLookUps)

        /// - Returns: `nil` if there is no place.
        mutating func begin(_ lookUp: LookUp, of partition: Partition) -> LookUp? {
            guard places.take(for: partition, of: lookUp.payer) else { return nil }
            lookUps[partition] = lookUp
            return lookUp
        }

        mutating func end(of partition: Partition) {
            guard let lookUp = lookUps.removeValue(forKey: partition) else { return }
            places.leave(for: partition, of: lookUp.payer)
        }
    }

    /// A problem that every request meets until somebody mends it.
    private struct Trouble: Hashable {
        let partition: Partition
        let text: String
    }

    private let vault: any RecordVault
    private let accounts: any AccountNames
    private let clock: any BrokerClock
    private let payer: @Sendable (Partition) -> Partition
    private let log: Logger
    private let repeats = Repeats<Partition, Partition, Trouble>()
    private let state = Mutex(State())

    /// - Parameter payer: the user in whose share a user's lookups are.
    package init(
        vault: any RecordVault, accounts: any AccountNames, clock: any BrokerClock,
        payer: @escaping @Sendable (Partition) -> Partition = { $0 }, log: Logger
    ) {
        self.vault = vault
        self.accounts = accounts
        self.clock = clock
        self.payer = payer
        self.log = log
    }

    /// Whether the account was looked up recently, and since the caller connected: the uid may belong to another account since.
    /// Part of the hot path.
    package func isCertain(of partition: Partition, connectedAt: Duration) -> Bool {
        let now = clock.uptime
        return state.withLock {
            $0.known.peek(partition).map { $0.lookedUp >= connectedAt && now - $0.lookedUp < Self.certainty } ?? false
        }
    }

    /// The account of a partition at its last lookup.
    package func account(of partition: Partition) -> String? { state.withLock { $0.known.peek(partition)?.account } }

    /// Looks the account up if due. A request that waits too long is refused.
    ///
    /// - Parameter connectedAt: the uptime when the caller connected.
    /// - Throws: `accessDenied` for an account that does not own the partition; `serverUnavailable` while the owner is unknown.
    package func check(_ partition: Partition, connectedAt: Duration) async throws(BrokerError) {
        if !isCertain(of: partition, connectedAt: connectedAt) { _ = try await lookUp(partition, since: connectedAt) }
    }

    /// - Parameter since: a lookup that began earlier does not count.
    private func lookUp(_ partition: Partition, since: Duration) async throws(BrokerError) -> Known {
        let payer = payer(partition)
        while true {
            let (lookUp, starts) = state.withLock { state -> (LookUp?, Bool) in
                if let lookUp = state.lookUps[partition] { return (lookUp, false) }
                return (state.begin(LookUp(payer: payer, began: clock.uptime), of: partition), true)
            }
            guard let lookUp else { throw Self.unanswered(partition) }
            if starts {
                Task { await run(lookUp, of: partition) }
            }
            let known = try await lookUp.promise.value.get()
            if lookUp.began >= since { return known }
        }
    }

    private func run(_ lookUp: LookUp, of partition: Partition) async {
        let promise = lookUp.promise
        let watch = Task {
            do { try await clock.sleep(for: Self.patience) } catch { return }
            guard promise.fulfil(.failure(Self.unanswered(partition))) else { return }
            tell(.error, "the account of uid \(partition.uid) is being looked up for long", of: partition)
        }
        let outcome: Outcome
        do throws(BrokerError) {
            let (account, isBound) = try await look(at: partition)
            outcome = .success(Known(account: account, isBound: isBound, lookedUp: lookUp.began))
        } catch { outcome = .failure(error) }
        watch.cancel()
        state.withLock { state in
            // The records may have been erased meanwhile, with their owner.
            guard state.lookUps[partition]?.promise === promise else { return }
            state.end(of: partition)
            if case .success(let found) = outcome {
                state.known.keep(found, for: partition, of: lookUp.payer)
                state.known.makeRoom()
            } else {
                state.known.remove(partition)
            }
        }
        promise.fulfil(outcome)
    }

    private func look(at partition: Partition) async throws(BrokerError) -> (account: String?, isBound: Bool) {
        let account = try await accountName(of: partition)
        guard let owner = try recordedOwner(of: partition) else { return (account, false) }
        guard let ownerName = owner.account else {
            // No name is no identity: the account directory did not answer yet when the uid was first seen.
            if let account {
                try await seal(account, in: partition)
                log.notice(
                    "uid \(partition.uid), which had no account, has one", metadata: ["uid": "\(partition.uid)"])
            }
            return (account, true)
        }
        guard let account else {
            tell(.warning, "the account of uid \(partition.uid) was not found", of: partition)
            throw BrokerError(
                .serverUnavailable,
                "Uid \(partition.uid) has no account now, and was \(SafeText(ownerName, atMost: 64).text)'s; try again when the directory of accounts answers."
            )
        }
        guard account == ownerName else {
            tell(.warning, "the records of uid \(partition.uid) are another account's", of: partition)
            throw BrokerError(
                .accessDenied,
                "The broker's records of uid \(partition.uid) belong to another account, which had this uid before; an administrator erases them with brokerctl partitions remove \(partition.uid).",
                reason: .otherAccount)
        }
        return (account, true)
    }

    private func accountName(of partition: Partition) async throws(BrokerError) -> String? {
        do throws(AccountNamesUnavailable) { return try await accounts.name(of: partition.uid) } catch {
            tell(
                .error, "the account of uid \(partition.uid) could not be looked up", of: partition,
                ["errno": "\(error.code)"])
            throw Self.unanswered(partition)
        }
    }

    /// - Returns: `nil` for a partition without a user's records.
    private func recordedOwner(of partition: Partition) throws(BrokerError) -> PartitionOwnerRecord? {
        do throws(VaultError) {
            if let owner = try owner(of: partition) { return owner }
            guard try vault.statistics(of: partition).hasUserRecords else { return nil }
        } catch {
            throw Self.unavailable(error)
        }
        tell(.error, "the owner of the records of uid \(partition.uid) is unknown", of: partition)
        throw BrokerError(
            .accessDenied,
            "The broker has records of uid \(partition.uid), but not of their owner; an administrator restores the vault, or erases them with brokerctl partitions remove \(partition.uid).",
            reason: .otherAccount)
    }

    /// Compares each partition's account with the one that has its uid now. Changes nothing, and admits no request.
    ///
    /// If the account directory does not answer in time, it is not asked about the rest. A locked vault names no account.
    package func survey(_ partitions: [Partition]) async -> [PartitionOwnership] {
        var holder = PartitionOwnership.Holder.nobody
        var found: [PartitionOwnership] = []
        for partition in partitions {
            let account = (try? owner(of: partition))?.account
            if holder != .unanswered { holder = await self.holder(of: partition) }
            found.append(PartitionOwnership(account: account, holder: holder))
        }
        return found
    }

    private func holder(of partition: Partition) async -> PartitionOwnership.Holder {
        let answer = Promise<PartitionOwnership.Holder>()
        let watch = Task {
            do { try await clock.sleep(for: Self.patience) } catch { return }
            answer.fulfil(.unanswered)
        }
        Task {
            do throws(AccountNamesUnavailable) {
                answer.fulfil(try await accounts.name(of: partition.uid).map { .account($0) } ?? .nobody)
            } catch {
                answer.fulfil(.unanswered)
            }
        }
        defer { watch.cancel() }
        return await answer.value
    }

    private func owner(of partition: Partition) throws(VaultError) -> PartitionOwnerRecord? {
        try vault.load(PartitionOwnerRecord.self, bucket: [], in: partition).first?.record
    }

    /// Records the partition's owner before anything else is stored in it.
    package func bind(_ partition: Partition) async throws(BrokerError) {
        let known = state.withLock { $0.known.peek(partition) }
        let found = if let known { known } else { try await lookUp(partition, since: .zero) }
        guard !found.isBound else { return }
        try await seal(found.account, in: partition)
        state.withLock { _ = $0.known.change(partition, weighing: { _ in 1 }) { $0.isBound = true } }
    }

    private func seal(_ account: String?, in partition: Partition) async throws(BrokerError) {
        do throws(VaultError) {
            let record = try vault.seal(PartitionOwnerRecord(account: account), secret: nil, in: partition).sealed
            try await vault.commit(VaultChange(in: partition, puts: [record]))
        } catch {
            throw Self.unavailable(error)
        }
    }

    /// Call when the vault has no records of the partition any more.
    package func forget(_ partition: Partition) {
        state.withLock {
            $0.known.remove(partition)
            $0.end(of: partition)
        }
    }

    /// Logs the same trouble once a minute, however many requests meet it.
    private func tell(
        _ level: Logger.Level, _ text: String, of partition: Partition, _ metadata: Logger.Metadata = [:]
    ) {
        let trouble = Trouble(partition: partition, text: text)
        guard let before = repeats.tell(trouble, of: payer(partition), at: clock.uptime) else { return }
        var metadata = metadata
        metadata["uid"] = "\(partition.uid)"
        if before > 0 { metadata["times_before"] = "\(before)" }
        log.log(level: level, "\(text)", metadata: metadata)
    }

    private static func unanswered(_ partition: Partition) -> BrokerError {
        BrokerError(
            .serverUnavailable, "The account of uid \(partition.uid) cannot be looked up now; try again in a moment.")
    }

    private static func unavailable(_ error: VaultError) -> BrokerError {
        BrokerError(
            error,
            saying: "The owner of these records could not be read or written; see the broker's log, and try again.",
            .vaultNotWritable)
    }
}

import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues

/// `partitions.…`.
struct PartitionHandlers: Sendable {
    /// `nil` if the broker serves one user.
    let users: MultiUserServices?
    let broker: TokenBroker
    let audit: AuditLog
    let policy: AccessPolicy
    let watches: Watches
    /// `nil` if sandboxes have no sockets.
    let sandboxes: SandboxSockets?

    var all: [any AnyMethodHandler] {
        [
            .waiting(ListPartitions.self) { _ throws(BrokerError) in
                ListPartitions.Result(partitions: try await describe(partitions()))
            },
            .waiting(
                RemovePartition.self,
                outcome: {
                    RequestOutcome(words: "everything of uid \($0.params.uid) was erased, \($1.removed) records")
                }
            ) { request throws(BrokerError) in
                let partition = Partition(uid: UInt32(clamping: request.params.uid))
                guard let found = try partitions().first(where: { $0.partition == partition }) else {
                    throw BrokerError(
                        .invalidParameter,
                        "There is nothing of uid \(partition.uid); see brokerctl partitions list.")
                }
                try await remove(partition)
                return RemovePartition.Result(removed: found.records)
            },
        ]
    }

    private func describe(_ summaries: [PartitionSummary]) async throws(BrokerError) -> [UserPartition] {
        let owners = try await manyUsers.owners.survey(summaries.map(\.partition))
        var described: [UserPartition] = []
        for (summary, owner) in zip(summaries, owners) {
            described.append(
                UserPartition(
                    uid: summary.partition.uid, account: owner.account, state: owner.state.rawValue,
                    records: summary.records, bytes: summary.bytes,
                    lastUsedOn: try? await audit.lastEntry(in: summary.partition)))
        }
        return described
    }

    private func partitions() throws(BrokerError) -> [PartitionSummary] {
        let users = try manyUsers
        do throws(VaultError) { return try users.partitions() } catch { throw BrokerError(error) }
    }

    /// Clears memory first and last: records read meanwhile are gone from disk.
    private func remove(_ partition: Partition) async throws(BrokerError) {
        let users = try manyUsers
        try await audit.erase(partition) { [broker, grants = policy.grants] () async throws(BrokerError) in
            try await grants.erase(partition) { () async throws(BrokerError) in
                try await broker.partitions.erase(partition, from: users.store)
            }
        }
        // Now, as some may be opened during the erasure: they would get the tokens of the uid's next account.
        await sandboxes?.endAll(of: partition)
        users.owners.forget(partition)
        watches.glance(soon: true) { $0.partition == partition }
    }

    private var manyUsers: MultiUserServices {
        get throws(BrokerError) {
            if let users { return users }
            throw BrokerError(
                .unsupported,
                "This broker serves one user and has no other partition; brokerctl cache clear erases theirs.")
        }
    }
}

import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues

/// `partitions.…`.
struct PartitionHandlers: Sendable {
    let services: ServerServices

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
        let owners = try await users.owners.survey(summaries.map(\.partition))
        var described: [UserPartition] = []
        for (summary, owner) in zip(summaries, owners) {
            described.append(
                UserPartition(
                    uid: summary.partition.uid, account: owner.account, state: owner.state.rawValue,
                    records: summary.records, bytes: summary.bytes,
                    lastUsedOn: try? await services.audit.lastEntry(in: summary.partition)))
        }
        return described
    }

    private func partitions() throws(BrokerError) -> [PartitionSummary] {
        let users = try users
        do throws(VaultError) { return try users.partitions() } catch { throw BrokerError(error) }
    }

    /// Memory first and last: what was read meanwhile is of records that are gone.
    private func remove(_ partition: Partition) async throws(BrokerError) {
        let users = try users
        try await services.audit.erase(partition) { [broker = services.broker] () async throws(BrokerError) in
            try await broker.erase(partition, from: users.store)
        }
        services.policy.grants.forget(partition)
        users.owners.forget(partition)
        services.watches.glance(soon: true) { $0.partition == partition }
    }

    private var users: MultiUserServices {
        get throws(BrokerError) {
            if let users = services.users { return users }
            throw BrokerError(
                .unsupported,
                "This broker serves one user and has no other partition; brokerctl cache clear erases theirs.")
        }
    }
}

import BrokerModel
import BrokerValues

/// How often grants are used: counted in memory at once, written from time to time.
extension GrantStore {
    func scheduleWriting() {
        Task {
            try? await clock.sleep(for: GrantRules.writingInterval)
            await flush()
        }
    }

    /// Writes how often grants were used; also called at shutdown.
    package func flush() async {
        await turns.run { [self] in
            let used = state.withLock { state in
                state.unwritten.isWritingScheduled = false
                defer { state.unwritten.used = [:] }
                return state.unwritten.used.map { partition, ids in
                    let grants = state.ledgers.peek(partition)?.grants
                    return (partition, ids.compactMap { grants?[$0] })
                }
            }
            for (partition, records) in used where !records.isEmpty { await write(records, in: partition) }
        }
    }

    private func write(_ records: [GrantRecord], in partition: Partition) async {
        do throws(VaultError) {
            var change = VaultChange(in: partition)
            for record in records { change.puts.append(try vault.seal(record, secret: nil, in: partition).sealed) }
            try await vault.commit(change)
        } catch {
            log.warning(
                "the uses of grants could not be written; the next write will", metadata: ["cause": "\(error)"])
            state.withLock { $0.unwritten.used[partition, default: []].formUnion(records.map(\.grant.id)) }
        }
    }
}

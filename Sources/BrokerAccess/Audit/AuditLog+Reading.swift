import BrokerModel
import BrokerValues

extension AuditLog {
    /// Well below what a client takes as one answer.
    private static let answerBytes = 4 << 20

    /// - Parameters:
    ///   - since: nothing that ended before.
    ///   - before: a sequence number, which is not part of it.
    ///   - limit: the newest of those that fit; fewer where they are large.
    /// - Returns: the oldest first, and whether the whole log is as it was written.
    package func list(
        of app: String?, since: NumericDate?, before: Int64? = nil, limit: Int, in partition: Partition
    ) async throws(BrokerError) -> (entries: [AuditEntry], isIntact: Bool) {
        await flush()
        let blocks: [AuditBlockRecord]
        let head: AuditHeadRecord?
        do throws(VaultError) {
            (head, blocks) = try await stored(in: partition)
        } catch .locked {
            throw BrokerError.locked
        } catch {
            throw BrokerError(
                .internal, "The audit log could not be read; see the broker's log.", reason: .vaultDamaged,
                cause: error)
        }
        let fitting = blocks.flatMap(\.entries).filter { entry in
            (app == nil || entry.app == app) && (since.map { entry.time >= $0 } ?? true)
                && (before.map { entry.sequence < $0 } ?? true)
        }
        var room = Self.answerBytes
        let newest = fitting.suffix(limit).reversed().prefix { entry in
            room -= entry.roughBytes
            return room > 0
        }
        return (newest.reversed(), AuditChain.isIntact(blocks, head))
    }

    /// In a turn of the log: what is written between two reads would look like a gap.
    private func stored(
        in partition: Partition
    ) async throws(VaultError) -> (AuditHeadRecord?, [AuditBlockRecord]) {
        try await turns.run { [vault] () async -> Result<(AuditHeadRecord?, [AuditBlockRecord]), VaultError> in
            do throws(VaultError) {
                let head = try vault.loadAll(AuditHeadRecord.self, in: partition).first?.record
                let blocks = try vault.loadAll(AuditBlockRecord.self, in: partition).map(\.record)
                return .success((head, blocks.sorted { $0.number < $1.number }))
            } catch {
                return .failure(error)
            }
        }.get()
    }
}

extension AuditEntry {
    var roughBytes: Int {
        let facts = (facts ?? [:]).reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count + 8 }
        let texts = [caller?.id, app, account, detail, correlationID].reduce(0) { $0 + ($1?.utf8.count ?? 0) }
        return 256 + facts + texts + (scopes ?? []).reduce(0) { $0 + $1.utf8.count + 4 }
    }
}

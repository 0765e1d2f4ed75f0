import BrokerModel
import BrokerValues

extension AuditLog {
    /// The bytes of entries in one listing: well below the size of an answer that a client accepts.
    private static let answerBytes = 4 << 20

    /// - Parameters:
    ///   - since: excludes entries that ended before.
    ///   - before: a sequence number; excludes it and later ones.
    ///   - limit: number of newest entries; fewer if they are large.
    /// - Returns: the entries, oldest first, and the state of the whole log.
    package func list(
        of app: String?, since: NumericDate?, before: Int64? = nil, limit: Int, in partition: Partition
    ) async throws(BrokerError) -> AuditListing {
        var log = try await stored(in: partition)
        let fitting = log.entries.filter { entry in
            (app == nil || entry.app == app) && (since.map { (entry.until ?? entry.time) >= $0 } ?? true)
                && (before.map { entry.sequence < $0 } ?? true)
        }
        var room = Self.answerBytes
        let newest = fitting.suffix(limit).reversed().prefix { entry in
            room -= entry.roughBytes
            return room > 0
        }
        log.entries = newest.reversed()
        return log
    }

    /// - Returns: the time of the newest entry; `nil` for an empty log.
    package func lastEntry(in partition: Partition) async throws(BrokerError) -> NumericDate? {
        try await list(of: nil, since: nil, limit: 1, in: partition).entries.last?.time
    }

    private func stored(in partition: Partition) async throws(BrokerError) -> AuditListing {
        try await listings.holding(partition) { () async throws(BrokerError) -> AuditListing in
            guard !Task.isCancelled else { throw BrokerError.callerWentAway }
            await flush(partition)
            do throws(VaultError) { return try await read(partition) } catch {
                throw BrokerError(
                    error, saying: "The audit log could not be read; see the broker's log.", .vaultDamaged)
            }
        }
    }

    private func read(_ partition: Partition) async throws(VaultError) -> AuditListing {
        try await rows.holding(partition) { () async throws(VaultError) -> AuditListing in
            let head = try vault.loadAll(AuditHeadRecord.self, in: partition).first?.record
            let blocks = try vault.loadAll(AuditBlockRecord.self, in: partition).map(\.record)
            return AuditListing(head, blocks)
        }
    }
}

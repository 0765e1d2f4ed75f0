import BrokerModel
import BrokerValues

extension AuditLog {
    /// - Parameters:
    ///   - since: nothing that ended before.
    ///   - limit: the newest of those that fit.
    /// - Returns: the oldest first, and whether the whole log is as it was written.
    package func list(
        of app: String?, since: NumericDate?, limit: Int, in partition: Partition
    ) async throws(BrokerError) -> (entries: [AuditEntry], isIntact: Bool) {
        await flush()
        let blocks: [AuditBlockRecord]
        let head: AuditHeadRecord?
        do throws(VaultError) {
            head = try vault.loadAll(AuditHeadRecord.self, in: partition).first?.record
            blocks = try vault.loadAll(AuditBlockRecord.self, in: partition).map(\.record)
                .sorted { $0.number < $1.number }
        } catch .locked {
            throw BrokerError(.locked, VaultError.locked.description)
        } catch {
            throw BrokerError(
                .internal, "The audit log could not be read; see the broker's log.", reason: .vaultDamaged,
                cause: error)
        }
        let fitting = blocks.flatMap(\.entries).filter { entry in
            (app == nil || entry.app == app) && (since.map { entry.time >= $0 } ?? true)
        }
        return (Array(fitting.suffix(limit)), AuditChain.isIntact(blocks, head))
    }
}

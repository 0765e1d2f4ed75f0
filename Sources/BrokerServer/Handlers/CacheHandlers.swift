import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues

/// `cache.…`.
struct CacheHandlers: Sendable {
    let services: ServerServices

    var all: [any AnyMethodHandler] {
        [
            .waiting(
                ImportCache.self,
                outcome: { RequestOutcome(words: "the cache of another program was imported, \($1.accounts) accounts") }
            ) { request throws(BrokerError) in
                try await services.broker.importCache(request.params.cache, for: request.app, in: request.partition)
            },
            .waiting(ExportCache.self, outcome: { _, _ in RequestOutcome(words: "a backup of the cache was begun") }) {
                request throws(BrokerError) in
                CacheTransfer(
                    try await services.broker.backups.beginExport(
                        with: Secret(request.params.passphrase), of: request.partition))
            },
            .waiting(ExportCachePart.self) { request throws(BrokerError) in
                let part = try services.broker.backups.exportPart(of: request.params.transfer, in: request.partition)
                return ExportCachePart.Result(data: Base64.encode(part.bytes), done: part.isLast)
            },
            .waiting(ImportCachePart.self) { request throws(BrokerError) in
                guard let bytes = Base64.decodeLeniently(request.params.data.utf8) else {
                    throw BrokerError(.invalidParameter, "data is not base64; send the bytes of the file in it.")
                }
                return CacheTransfer(
                    try services.broker.backups.addImportPart(bytes, to: request.params.transfer, in: request.partition)
                )
            },
            .waiting(
                ImportBackup.self,
                outcome: {
                    RequestOutcome(
                        words:
                            "a backup was imported, \($1.refreshTokens.added + $1.refreshTokens.replaced) refresh tokens"
                    )
                }
            ) { request throws(BrokerError) in
                let params = request.params
                return try await services.broker.backups.importBackup(
                    params.transfer, with: Secret(params.passphrase), replacingApps: params.replaceApps,
                    in: request.partition)
            },
            .waiting(GetCacheStatistics.self) { request throws(BrokerError) in
                var statistics = try services.broker.cacheStatistics(of: request.partition)
                statistics.residentBytes = services.process.residentBytes()
                return statistics
            },
            .waiting(
                ClearCache.self,
                outcome: { RequestOutcome(words: "\($1.accounts) accounts and \($1.tokens) tokens were erased") }
            ) { request throws(BrokerError) in
                let everybody = try services.broker.accounts(of: nil, includeSignedOut: true, in: request.partition)
                try await services.policy.grants.revokeGrants(for: Set(everybody.map(\.id)), in: request.partition)
                return try await services.broker.clearCache(
                    revoke: request.params.revoke, correlationID: request.correlationID, in: request.partition)
            },
            .waiting(
                AcceptRestore.self,
                outcome: {
                    RequestOutcome(
                        words: $1.accepted
                            ? "the vault was accepted as it is" + ($0.params.everybody ? ", for everybody" : "")
                            : "there was nothing to accept")
                }
            ) { request throws(BrokerError) in
                if request.params.everybody, let users = services.users {
                    try services.policy.requireOwnerOfBroker(request.context.callerNow())
                    return AcceptRestore.Result(accepted: try await acceptRestore(of: users))
                }
                return AcceptRestore.Result(accepted: try await acceptRestore(in: request.partition))
            },
        ]
    }

    /// For every user, even if no rollback was noticed yet: the next check would find one.
    private func acceptRestore(of users: MultiUserServices) async throws(BrokerError) -> Bool {
        let all: [PartitionSummary]
        do throws(VaultError) { all = try users.store.partitions() } catch { throw BrokerError(error) }
        for user in all { try await services.broker.acceptState(of: user.partition) }
        return !all.isEmpty
    }

    private func acceptRestore(in partition: Partition) async throws(BrokerError) -> Bool {
        do throws(VaultError) {
            let found = try services.vault.statistics()
            guard services.vault.isRolledBack(partition) || found.quarantined + found.missing > 0 else { return false }
        } catch {
            throw BrokerError(error)
        }
        try await services.broker.acceptState(of: partition)
        return true
    }
}

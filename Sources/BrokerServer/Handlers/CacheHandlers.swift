import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues

/// `cache.…`.
struct CacheHandlers: Sendable {
    let broker: TokenBroker
    let policy: AccessPolicy
    let vault: any RecordVault
    /// `nil` if the broker serves one user.
    let users: MultiUserServices?
    let process: ProcessFacts

    var all: [any AnyMethodHandler] {
        [importCache, exportBackup, exportPart, importPart, importBackup, statistics, clear, acceptRestore]
    }

    private var importCache: MethodHandler<ImportCache> {
        .waiting(
            ImportCache.self,
            outcome: { RequestOutcome(words: "the cache of another program was imported, \($1.accounts) accounts") }
        ) { request throws(BrokerError) in
            try await broker.importCache(request.params.cache, for: request.app, in: request.partition)
        }
    }

    private var exportBackup: MethodHandler<ExportCache> {
        .waiting(ExportCache.self, outcome: { _, _ in RequestOutcome(words: "a backup of the cache was begun") }) {
            request throws(BrokerError) in
            CacheTransfer(
                try await broker.backups.beginExport(with: Secret(request.params.passphrase), of: request.partition))
        }
    }

    private var exportPart: MethodHandler<ExportCachePart> {
        // The last part alone is an entry: the file is unusable without it.
        .waiting(ExportCachePart.self, outcome: { .answered(ExportCachePart.self, changed: $1.done) }) {
            request throws(BrokerError) in
            let part = try broker.backups.exportPart(of: request.params.transfer, in: request.partition)
            return ExportCachePart.Result(data: Base64.encode(part.bytes), done: part.isLast)
        }
    }

    private var importPart: MethodHandler<ImportCachePart> {
        // A part changes nothing yet; the import has an entry of its own.
        .waiting(ImportCachePart.self, outcome: { _, _ in .answered(ImportCachePart.self, changed: false) }) {
            request throws(BrokerError) in
            guard let bytes = Base64.decodeLeniently(request.params.data.utf8) else {
                throw BrokerError(.invalidParameter, "data is not base64; send the bytes of the file in it.")
            }
            return CacheTransfer(
                try broker.backups.addImportPart(bytes, to: request.params.transfer, in: request.partition))
        }
    }

    private var importBackup: MethodHandler<ImportBackup> {
        .waiting(
            ImportBackup.self,
            outcome: {
                RequestOutcome(
                    words: "a backup was imported, \($1.refreshTokens.added + $1.refreshTokens.replaced) refresh tokens"
                )
            }
        ) { request throws(BrokerError) in
            let params = request.params
            return try await broker.backups.importBackup(
                params.transfer, with: Secret(params.passphrase), replacingApps: params.replaceApps,
                in: request.partition)
        }
    }

    private var statistics: MethodHandler<GetCacheStatistics> {
        .waiting(GetCacheStatistics.self) { request throws(BrokerError) in
            var statistics = try broker.cacheStatistics(of: request.partition)
            statistics.residentBytes = process.residentBytes()
            return statistics
        }
    }

    private var clear: MethodHandler<ClearCache> {
        .waiting(
            ClearCache.self,
            outcome: { RequestOutcome(words: "\($1.accounts) accounts and \($1.tokens) tokens were erased") }
        ) { request throws(BrokerError) in
            let everybody = try broker.accounts(of: nil, includeSignedOut: true, in: request.partition)
            return try await policy.grants.revokeGrants(
                for: Set(everybody.map(\.id)), in: request.partition
            ) { () throws(BrokerError) in
                try await broker.erasure.run(
                    nil, revoke: request.params.revoke, correlationID: request.correlationID, in: request.partition)
            }
        }
    }

    private var acceptRestore: MethodHandler<AcceptRestore> {
        .waiting(
            AcceptRestore.self,
            outcome: {
                RequestOutcome(
                    words: $1.accepted
                        ? "the vault was accepted as it is" + ($0.params.everybody ? ", for everybody" : "")
                        : "there was nothing to accept")
            }
        ) { request throws(BrokerError) in
            if request.params.everybody, let users {
                try policy.requireOwnerOfBroker(request.context.callerNow())
                return AcceptRestore.Result(accepted: try await acceptRestore(of: users))
            }
            return AcceptRestore.Result(accepted: try await acceptRestore(in: request.partition))
        }
    }

    /// For every user, even if no rollback was noticed yet: the next check would find one.
    private func acceptRestore(of users: MultiUserServices) async throws(BrokerError) -> Bool {
        let all: [PartitionSummary]
        do throws(VaultError) { all = try users.store.partitions() } catch { throw BrokerError(error) }
        for user in all { try await broker.partitions.acceptState(of: user.partition) }
        return !all.isEmpty
    }

    private func acceptRestore(in partition: Partition) async throws(BrokerError) -> Bool {
        do throws(VaultError) {
            let found = try vault.statistics()
            guard vault.isRolledBack(partition) || found.quarantined + found.missing > 0 else { return false }
        } catch {
            throw BrokerError(error)
        }
        try await broker.partitions.acceptState(of: partition)
        return true
    }
}

import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues

/// `cache.…`.
struct CacheHandlers: Sendable {
    let services: ServerServices

    var all: [AnyHandler] {
        [
            .waiting(
                ImportCache.self,
                outcome: { RequestOutcome(words: "the cache of another program was imported, \($1.accounts) accounts") }
            ) { request throws(BrokerError) in
                try await services.broker.importCache(request.params.cache, for: request.app, in: request.partition)
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
        ]
    }
}

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
            }
        ]
    }
}

import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues

/// `cache.…`.
struct CacheHandlers: Sendable {
    let services: ServerServices

    var all: [AnyHandler] {
        [
            .waiting(ImportCache.self) { request throws(BrokerError) in
                try await services.broker.importCache(request.params.cache, for: request.app, in: request.partition)
            }
        ]
    }
}

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
                ImportCache.Result(
                    try await services.broker.importCache(
                        request.params.cache, for: request.app, in: request.partition))
            }
        ]
    }
}

extension ImportCache.Result {
    fileprivate init(_ report: CacheImportReport) {
        self.init()
        accounts = Int64(report.accounts)
        refreshTokens = Int64(report.refreshTokens)
        familyRefreshTokens = Int64(report.familyRefreshTokens)
        accessTokens = Int64(report.accessTokens)
        idTokens = Int64(report.idTokens)
        appMetadata = Int64(report.appMetadata)
        older = Int64(report.older)
        expired = Int64(report.expired)
        problems = report.problems
        unregistered = report.unregistered.map { client in
            var message = ImportCache.Unregistered()
            message.clientId = client.clientID
            message.environment = client.environment
            message.authority = client.authority
            return message
        }
    }
}

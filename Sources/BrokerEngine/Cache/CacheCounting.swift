import BrokerModel
import BrokerValues

/// `cache.stats`.
struct CacheCounting: Sendable {
    let services: EngineServices
    let partition: Partition

    func statistics() throws(BrokerError) -> CacheStatistics {
        let accounts = try AccountListing(services: services).list(for: nil, includeSignedOut: true, in: partition)
        var result = CacheStatistics()
        result.accounts = Set(accounts.map(\.id)).count
        result.signedIn = Set(accounts.filter(\.signedIn).map(\.id)).count
        result.apps = services.roster.apps(in: partition).count
        result.cacheBytes = services.index.weight(of: partition)
        try services.reading { () throws(VaultError) in
            result.groups = try services.index.loadEveryGroup(in: partition).count
            let disk = try services.vault.statistics(of: partition)
            (result.recordBytes, result.fileBytes) = (disk.recordBytes, disk.fileBytes)
            for (kind, count) in disk.records {
                if let place = Self.place(of: kind) { result.records[keyPath: place] += count }
            }
        }
        return result
    }

    /// - Returns: `nil` for the broker's internal records.
    private static func place(of kind: RecordKind) -> WritableKeyPath<CacheStatistics.Records, Int>? {
        switch kind {
        case .account: \.accounts
        case .accessToken: \.accessTokens
        case .refreshToken: \.refreshTokens
        case .idToken: \.idTokens
        case .appMetadata: \.clients
        case .signOut: \.signOuts
        case .app: \.apps
        case .providerDocument: \.documents
        case .proofKey: \.proofKeys
        case .grant: \.grants
        case .auditBlock, .auditHead: \.audit
        case .partitionOwner: nil
        }
    }
}

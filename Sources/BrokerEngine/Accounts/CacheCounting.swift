import BrokerModel
import BrokerTokenCache
import BrokerValues

/// Implements `cache.stats`.
struct CacheCounting: Sendable {
    let listing: AccountListing
    let cache: TokenCache
    let roster: any AppRoster

    func statistics(of partition: Partition) throws(BrokerError) -> CacheStatistics {
        let accounts = try listing.list(for: nil, includeSignedOut: true, in: partition)
        var result = CacheStatistics()
        result.accounts = Set(accounts.map(\.id)).count
        result.signedIn = Set(accounts.filter(\.signedIn).map(\.id)).count
        result.apps = roster.apps(in: partition).count
        result.cacheBytes = cache.index.weight(of: partition)
        try cache.reading { () throws(VaultError) in
            result.groups = try cache.index.loadEveryGroup(in: partition).count
            let disk = try cache.vault.statistics(of: partition)
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

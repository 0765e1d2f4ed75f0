import BrokerModel
import BrokerTokenCache
import BrokerValues

/// Facts about a client at its provider that sign-ins have shown, stored in the client's record. Every call reads the disk.
struct ClientKnowledge: Sendable {
    let cache: TokenCache

    /// The client's ``AppMetadataRecord/refreshTokenTakesConsent``; `nil` if it is unknown.
    func refreshTokenTakesConsent(_ client: ClientKey) throws(BrokerError) -> Bool? {
        try cache.reading { () throws(VaultError) in
            try cache.index.loadMetadata(of: client)?.refreshTokenTakesConsent
        }
    }

    /// The client's ``AppMetadataRecord/refusesOfflineAccess``.
    func refusesOfflineAccess(_ client: ClientKey) throws(BrokerError) -> Bool {
        try cache.reading { () throws(VaultError) in
            try cache.index.loadMetadata(of: client)?.refusesOfflineAccess == true
        }
    }

    /// Records what a failed sign-in shows about `offline_access`, for the next one.
    func learnOfOfflineAccess(from error: BrokerError, to scopes: Scopes, of client: ClientKey) async {
        let known = try? refusesOfflineAccess(client)
        guard let refuses = OfflineRefusal.learned(from: error, to: scopes, known: known) else { return }
        await note(of: client) { $0.refusesOfflineAccess = refuses }
    }

    /// Changes the client's record. A failure to write is ignored: the next sign-in shows the same again.
    ///
    /// - Parameter erasures: those since the sign-in began; after one nothing is noted.
    func note(
        of client: ClientKey, amid erasures: ErasureMark? = nil,
        _ change: @escaping @Sendable (inout AppMetadataRecord) -> Void
    ) async {
        _ = try? await cache.write(in: client.partition) { [vault = cache.vault] index throws(VaultError) in
            guard erasures?.isEmpty ?? true else { return (CacheChange(in: client.partition), ()) }
            var record = try index.loadMetadata(of: client) ?? AppMetadataRecord(of: client)
            change(&record)
            let sealed = try vault.seal(record, secret: nil, in: client.partition)
            return (CacheChange(in: client.partition, [.appMetadata(.put(sealed))]), ())
        }
    }
}

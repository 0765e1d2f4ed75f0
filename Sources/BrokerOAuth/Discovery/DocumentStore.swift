import BrokerModel
import BrokerValues

/// Keeps providers' documents across restarts, in the vault. A document that cannot be stored or found again is fetched anew,
/// so nothing here fails: the vault itself logs its errors.
package struct DocumentStore: Sendable {
    private let vault: any RecordVault
    private let partition: Partition

    /// More than any user's providers have; the oldest document of the server with the most is evicted.
    package static let maximumDocuments = 64
    /// In bytes. A larger document is used, but not stored.
    package static let largestDocument = 256 << 10

    package init(vault: any RecordVault, partition: Partition) {
        self.vault = vault
        self.partition = partition
    }

    struct Kept {
        var document: CachedDocument
        var fetchedAt: NumericDate
    }

    /// Fast: one row.
    func document(named name: String) -> Kept? {
        let bucket = ProviderDocumentRecord(
            name: name, body: "", entityTag: nil, lastModified: nil, lifetime: 0, fetchedAt: 0
        ).bucket
        guard
            let record = try? vault.load(ProviderDocumentRecord.self, bucket: bucket, in: partition).first?.record
        else { return nil }
        return Kept(document: CachedDocument(record), fetchedAt: record.fetchedAt)
    }

    /// - Parameter thread: searches all other documents for one to evict, which takes a while.
    func keep(_ document: CachedDocument, fetchedAt: NumericDate, on thread: ParserThread) async {
        guard document.body.count <= Self.largestDocument else { return }
        let change = await thread.read(bytes: Self.maximumDocuments * Self.largestDocument) {
            self.change(keeping: document, fetchedAt)
        }
        if let change { try? await vault.commit(change) }
    }

    private func change(keeping document: CachedDocument, _ fetchedAt: NumericDate) -> VaultChange? {
        guard let record = document.record(fetchedAt: fetchedAt),
            let sealed = try? vault.seal(record, secret: nil, in: partition).sealed
        else { return nil }
        let others = ((try? vault.loadAll(ProviderDocumentRecord.self, in: partition)) ?? []).map(\.record)
            .filter { $0.name != document.name }.sorted { $0.fetchedAt < $1.fetchedAt }
        var kept = FairCache<String, String, ProviderDocumentRecord>(limit: Self.maximumDocuments - 1)
        for other in others { kept.keep(other, for: other.name, of: DocumentPlace.server(of: other.name)) }
        return VaultChange(in: partition, puts: [sealed], deletes: kept.makeRoom().map(\.key))
    }

    func forget(_ name: String) async {
        guard let kept = document(named: name), let record = kept.document.record(fetchedAt: kept.fetchedAt) else {
            return
        }
        try? await vault.commit(VaultChange(in: partition, deletes: [record.key]))
    }
}

extension CachedDocument {
    fileprivate init(_ record: ProviderDocumentRecord) {
        name = record.name
        body = Array(record.body.utf8)
        entityTag = record.entityTag
        lastModified = record.lastModified
        lifetime = record.lifetime
    }

    /// `nil` if the body is not text; JSON always is.
    fileprivate func record(fetchedAt: NumericDate) -> ProviderDocumentRecord? {
        guard let body = String(validating: body, as: UTF8.self) else { return nil }
        return ProviderDocumentRecord(
            name: name, body: body, entityTag: entityTag, lastModified: lastModified, lifetime: lifetime,
            fetchedAt: fetchedAt)
    }
}

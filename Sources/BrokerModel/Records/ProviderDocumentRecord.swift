import BrokerValues

/// A provider's discovery document or keys, as received: public, and kept so that the broker can start without network.
package struct ProviderDocumentRecord: VaultRecord {
    package static let kind = RecordKind.providerDocument
    package var url: String
    package var body: String
    /// Validators of RFC 9110, section 8.8.
    package var entityTag: String?
    package var lastModified: String?
    /// Seconds for which it may be used without asking.
    package var lifetime: Int64
    package var fetchedAt: NumericDate

    package init(
        url: String, body: String, entityTag: String?, lastModified: String?, lifetime: Int64, fetchedAt: NumericDate
    ) {
        self.url = url
        self.body = body
        self.entityTag = entityTag
        self.lastModified = lastModified
        self.lifetime = lifetime
        self.fetchedAt = fetchedAt
    }

    package var bucket: [String] { [url] }
    package var item: [String] { [] }
}

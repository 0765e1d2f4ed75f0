import BrokerValues

/// A provider's discovery document or keys, as received: public, and kept so that the broker can start without network.
package struct ProviderDocumentRecord: VaultRecord {
    package static let kind = RecordKind.providerDocument
    /// The issuer that was asked for it and its URL, with a blank between.
    package var name: String
    package var body: String
    /// Validators of RFC 9110, section 8.8.
    package var entityTag: String?
    package var lastModified: String?
    /// Seconds for which it may be used without asking.
    package var lifetime: Int64
    package var fetchedAt: NumericDate

    package init(
        name: String, body: String, entityTag: String?, lastModified: String?, lifetime: Int64, fetchedAt: NumericDate
    ) {
        self.name = name
        self.body = body
        self.entityTag = entityTag
        self.lastModified = lastModified
        self.lifetime = lifetime
        self.fetchedAt = fetchedAt
    }

    /// ``name`` is called what it was before issuers had documents of their own: such a record is of no use, and is read all the same.
    private enum CodingKeys: String, CodingKey {
        case name = "url"
        case body, entityTag, lastModified, lifetime, fetchedAt
    }

    package var bucket: [String] { [name] }
    package var item: [String] { [] }
}

import BrokerValues

/// A provider's discovery document or keys, as received: public, and kept so that the broker can start without a network.
package struct ProviderDocumentRecord: VaultRecord {
    package static let kind = RecordKind.providerDocument
    /// The issuer and the document's URL, separated by a blank.
    package var name: String
    package var body: String
    /// Validators of RFC 9110, section 8.8.
    package var entityTag: String?
    package var lastModified: String?
    /// How long it may be used without revalidation, in seconds.
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

    /// ``name`` has its key from before issuers had their own documents: such an old record is useless, but must be readable.
    private enum CodingKeys: String, CodingKey {
        case name = "url"
        case body, entityTag, lastModified, lifetime, fetchedAt
    }

    package var bucket: [String] { [name] }
    package var item: [String] { [] }
}

import BrokerModel

/// The configuration of one provider.
package struct ProviderTable: Sendable, Equatable {
    package var kind: ProviderKind?
    package var completion = MetadataOverride()
    /// URLs of hosts; `nil` if not set.
    package var otherClouds: [String]?

    package init() {}
}

/// The formats of a vault's content.
package enum VaultFormat {
    /// Increases when rows or header change their meaning; part of the associated data of everything that is sealed.
    package static let current = 2
    /// The oldest readable format, without a manifest: it is migrated at the first start.
    package static let oldest = 1
}

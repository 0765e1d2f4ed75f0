/// The role of a source of the vault's key.
package enum KeySourcePlace: String, Sendable, CaseIterable {
    /// It replaces the source that opens the vault every day.
    case instead
    /// An additional source.
    case beside
    /// The source no longer opens the vault.
    case removed
}

/// The role of a source of the vault's key.
package enum KeySourcePlace: String, Sendable, CaseIterable {
    /// The source replaces the one that usually opens the vault.
    case instead
    /// An additional source.
    case beside
    /// The source no longer opens the vault.
    case removed
}

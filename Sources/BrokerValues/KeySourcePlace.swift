/// What a source of the vault's key is to be.
package enum KeySourcePlace: String, Sendable, CaseIterable {
    /// The one that the vault is opened with every day, instead of the one before.
    case instead
    /// One more that opens it.
    case beside
    /// No longer one that opens it.
    case removed
}

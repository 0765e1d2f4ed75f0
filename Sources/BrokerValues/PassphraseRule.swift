/// What a new passphrase must have.
package enum PassphraseRule {
    /// Bytes of UTF-8. Not a measure of strength, only against accidents.
    package static let shortest = 8
}

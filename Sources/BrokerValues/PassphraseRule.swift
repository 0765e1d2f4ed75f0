/// The rule for a new passphrase.
package enum PassphraseRule {
    /// In bytes of UTF-8. Not a measure of strength, only against accidents.
    package static let shortest = 8
}

/// The rule for a new passphrase.
package enum PassphraseRule {
    /// The fewest bytes of UTF-8. It prevents accidents, and is no measure of strength.
    package static let shortest = 8
}

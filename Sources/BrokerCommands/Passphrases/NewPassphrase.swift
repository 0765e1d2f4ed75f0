import BrokerLink
import BrokerRPC
import BrokerValues

/// The rules for a passphrase that is typed for the first time.
enum NewPassphrase {
    /// Checked before the second prompt.
    static func requireLength(_ passphrase: String) throws(BrokerClientError) {
        guard passphrase.utf8.count < PassphraseRule.shortest else { return }
        throw BrokerClientError(
            .invalidParameter,
            "A passphrase has at least \(PassphraseRule.shortest) characters; nothing was changed. Run the command again."
        )
    }

    static let differ = BrokerClientError(
        .invalidParameter, "The two passphrases differ; nothing was changed. Run the command again.")
}

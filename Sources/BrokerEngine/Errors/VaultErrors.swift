import BrokerModel
import BrokerValues

extension BrokerError {
    /// Maps a failed read or write of the cache to an error for the caller.
    package init(_ error: VaultError) {
        switch error {
        case .locked: self = .locked
        case .awaitingKey, .wrongPassphrase: self.init(ofKeys: error)
        case .full, .io:
            self.init(
                .internal, "The token cache cannot be read or written; see the broker's log.",
                reason: .vaultNotWritable,
                cause: error)
        default:
            self.init(
                .internal, "The token cache is damaged; see the broker's log.", reason: .vaultDamaged, cause: error)
        }
    }
}

import BrokerValues

extension BrokerError {
    /// Maps a failed read or write of the cache to an error for the caller.
    package init(_ error: VaultError) {
        switch error {
        case .locked: self = .locked
        case .awaitingKey, .wrongPassphrase: self.init(ofKeys: error)
        case .erased: self.init(.internal, error.description, reason: .vaultNotWritable, cause: error)
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

    /// `locked`, or `internal` with a sentence of its own.
    package init(_ error: VaultError, saying message: String, _ reason: ErrorReason) {
        self = error == .locked ? .locked : BrokerError(.internal, message, reason: reason, cause: error)
    }

    /// An error of the keys for an administrator; the texts name files and programs, never contents.
    package init(ofKeys error: VaultError) {
        switch error {
        case .wrongPassphrase:
            self.init(.accessDenied, error.description, reason: .wrongPassphrase, cause: error)
        case .locked: self = .locked
        case .unsuitable(let text): self.init(.invalidParameter, text, cause: error)
        case .awaitingKey(let text): self.init(.locked, text, reason: .keyAwaited, cause: error)
        case .keyUnavailable(let text), .wrongKey(let text), .damaged(let text), .notPrivate(let text):
            self.init(.internal, text, reason: .keyUnavailable, cause: error)
        default: self.init(error)
        }
    }
}

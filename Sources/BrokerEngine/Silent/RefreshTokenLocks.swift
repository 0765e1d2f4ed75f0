import BrokerModel
import BrokerValues

/// Prevents concurrent use of a refresh token by several flights: a family's token may have arrived during another flight, and an
/// import may have brought the same one to several groups. Equal tokens of different providers do not wait for each other.
struct RefreshTokenLocks: Sendable {
    private struct Key: Hashable {
        let token: Int
        let environment: String
    }

    private let locks = KeyedLocks<Key>()

    /// Waits until no other flight uses the token.
    ///
    /// - Parameter environment: the token's provider.
    func holding<Value>(
        _ token: Secret, at environment: String, _ work: () async throws(BrokerError) -> Value
    ) async throws(BrokerError) -> Value {
        try await locks.holding(Key(token: token.processHash, environment: environment), work)
    }
}

extension Secret {
    /// A hash that only this process can compute: outside of the vault, a token is kept in no other form.
    var processHash: Int {
        withBytes { bytes in
            var hasher = Hasher()
            hasher.combine(bytes: bytes)
            return hasher.finalize()
        }
    }
}

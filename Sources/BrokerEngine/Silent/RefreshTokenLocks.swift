import BrokerModel
import Synchronization

/// No refresh token is spent twice at a time, whichever flights have it: a family's token may have come while one was under way,
/// and an import may have brought the same one to several groups. Providers that give equal tokens do not wait for each other.
final class RefreshTokenLocks: Sendable {
    private struct Key: Hashable {
        let token: Int
        let environment: String

        init(_ token: Secret, _ environment: String) {
            self.token = token.processHash
            self.environment = environment
        }
    }

    private struct State {
        /// Who waits for a token that somebody spends.
        var waiting: [Key: [CheckedContinuation<Void, Never>]] = [:]

        /// - Returns: whether nobody had it.
        mutating func take(_ token: Key) -> Bool {
            guard waiting[token] == nil else { return false }
            waiting[token] = []
            return true
        }

        /// - Returns: whose turn it is now.
        mutating func leave(_ token: Key) -> CheckedContinuation<Void, Never>? {
            guard waiting[token]?.isEmpty == false else {
                waiting[token] = nil
                return nil
            }
            return waiting[token]?.removeFirst()
        }
    }
    private let state = Mutex(State())

    /// Waits until nobody spends the token any more; ``leave(_:at:)`` ends the turn.
    ///
    /// - Parameter environment: whose token it is.
    func take(_ token: Secret, at environment: String) async {
        let token = Key(token, environment)
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.take(token) { return true }
                state.waiting[token]?.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    func leave(_ token: Secret, at environment: String) {
        let token = Key(token, environment)
        let next = state.withLock { $0.leave(token) }
        next?.resume()
    }
}

extension Secret {
    /// Which only this process can make: tokens are kept nowhere else than in the vault.
    var processHash: Int {
        withBytes { bytes in
            var hasher = Hasher()
            hasher.combine(bytes: bytes)
            return hasher.finalize()
        }
    }
}

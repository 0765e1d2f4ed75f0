import BrokerModel
import Synchronization

/// Prevents concurrent use of a refresh token by several flights: a family's token may have arrived during another flight, and an
/// import may have brought the same one to several groups. Equal tokens of different providers do not wait for each other.
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
        /// Tasks that wait for a token in use.
        var waiting: [Key: [CheckedContinuation<Void, Never>]] = [:]

        /// - Returns: whether it was free.
        mutating func take(_ token: Key) -> Bool {
            guard waiting[token] == nil else { return false }
            waiting[token] = []
            return true
        }

        /// - Returns: the next waiter.
        mutating func leave(_ token: Key) -> CheckedContinuation<Void, Never>? {
            guard waiting[token]?.isEmpty == false else {
                waiting[token] = nil
                return nil
            }
            return waiting[token]?.removeFirst()
        }
    }
    private let state = Mutex(State())

    /// Waits until the token is not in use; ``leave(_:at:)`` releases it.
    ///
    /// - Parameter environment: the token's provider.
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
    /// A hash that only this process can compute: outside of the vault, a token is kept in no other form.
    var processHash: Int {
        withBytes { bytes in
            var hasher = Hasher()
            hasher.combine(bytes: bytes)
            return hasher.finalize()
        }
    }
}

import Synchronization

/// Mutual exclusion of tasks by key: work with one key runs one after the other, in the order of arrival. Work with other keys
/// does not wait for it.
package final class KeyedLocks<Key: Hashable & Sendable>: Sendable {
    /// The keys in use, and the tasks that wait for each.
    private let waiting = Mutex<[Key: [CheckedContinuation<Void, Never>]]>([:])

    package init() {}

    /// - Parameter work: it must not take the same key again.
    package func holding<Value, Failure: Error>(
        _ key: Key, _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        await take(key)
        defer { leave(key) }
        return try await work()
    }

    private func take(_ key: Key) async {
        await withCheckedContinuation { continuation in
            let isFree = waiting.withLock { waiting in
                guard waiting[key] == nil else {
                    waiting[key]?.append(continuation)
                    return false
                }
                waiting[key] = []
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    private func leave(_ key: Key) {
        let next = waiting.withLock { waiting -> CheckedContinuation<Void, Never>? in
            guard waiting[key]?.isEmpty == false else {
                waiting[key] = nil
                return nil
            }
            return waiting[key]?.removeFirst()
        }
        next?.resume()
    }
}

import Synchronization

/// A state behind a lock that a test can wait for. A double records its calls in it.
///
/// A waiting test costs nothing: each change checks the awaited condition. There is no time limit: a test that waits
/// in vain is ended by the limit of a run (`.ci/test`).
package final class Watched<State: Sendable>: Sendable {
    private struct Waiter: Sendable {
        /// Resumes the waiting task if the state fulfills its condition, and returns whether it did.
        let offer: @Sendable (State) -> Bool
        let cancel: @Sendable () -> Void
    }

    private struct Content: Sendable {
        var state: State
        var nextID = 0
        var waiters: [Int: Waiter] = [:]
    }

    private let content: Mutex<Content>

    package init(_ state: State) { content = Mutex(Content(state: state)) }

    package func withLock<Answer: Sendable>(_ body: (inout State) throws -> Answer) rethrows -> Answer {
        try content.withLock { content in
            let answer = try body(&content.state)
            let state = content.state
            content.waiters = content.waiters.filter { !$0.value.offer(state) }
            return answer
        }
    }

    /// Waits until the state fulfills the test's condition.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    package func until(_ isSo: @escaping @Sendable (State) -> Bool) async throws {
        _ = try await first { isSo($0) ? true : nil }
    }

    /// Waits until the state yields a value.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    package func first<Value: Sendable>(_ look: @escaping @Sendable (State) -> Value?) async throws -> Value {
        let id = content.withLock { content in
            content.nextID += 1
            return content.nextID
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
                let waiter = Waiter { state in
                    guard let value = look(state) else { return false }
                    continuation.resume(returning: value)
                    return true
                } cancel: {
                    continuation.resume(throwing: CancellationError())
                }
                content.withLock { content in
                    if waiter.offer(content.state) { return }
                    // A cancellation from now on finds the waiter.
                    if Task.isCancelled { waiter.cancel() } else { content.waiters[id] = waiter }
                }
            }
        } onCancel: {
            content.withLock { $0.waiters.removeValue(forKey: id) }?.cancel()
        }
    }
}

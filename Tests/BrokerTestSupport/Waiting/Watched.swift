import Synchronization

/// A state behind a lock that a test can wait for. A double keeps in it what it has seen.
///
/// A waiting test costs nothing: each change looks whether it was the awaited one. There is no time limit: a test that waits for
/// what never comes is ended by the limit of the whole run (`.ci/test`).
package final class Watched<State: Sendable>: Sendable {
    private struct Waiter: Sendable {
        /// Resumes the waiting task if the state has what it waits for, and says so.
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

    /// Waits until the state is as the test wants it.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    package func until(_ isSo: @escaping @Sendable (State) -> Bool) async throws {
        _ = try await first { isSo($0) ? true : nil }
    }

    /// Waits until there is something to see in the state.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
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
                    // Whoever cancels from now on finds the waiter.
                    if Task.isCancelled { waiter.cancel() } else { content.waiters[id] = waiter }
                }
            }
        } onCancel: {
            content.withLock { $0.waiters.removeValue(forKey: id) }?.cancel()
        }
    }
}

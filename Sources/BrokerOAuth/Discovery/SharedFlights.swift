import Synchronization

/// Lets concurrent callers that want the same value wait for one piece of work.
///
/// The work belongs to no single caller: a caller whose task is cancelled stops waiting, the work continues.
final class SharedFlights<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct State {
        var nextID: UInt64 = 0
        var waiting: [Key: [UInt64: CheckedContinuation<Value?, Never>]] = [:]
    }
    private let state = Mutex(State())

    /// - Parameter mayStart: called if no work for the key is under way; if it returns false, none starts.
    /// - Returns: the work's result; `nil` if there is none, or the calling task was cancelled before.
    func value(
        for key: Key, if mayStart: () -> Bool = { true }, work: @escaping @Sendable () async -> Value
    ) async -> Value? {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isFirst, isRefused) = state.withLock { state in
                    let isFirst = state.waiting[key] == nil
                    if isFirst, !mayStart() { return (false, true) }
                    state.waiting[key, default: [:]][id] = continuation
                    return (isFirst, false)
                }
                if isRefused { return continuation.resume(returning: nil) }
                if isFirst {
                    Task.detached { [self] in
                        let value = await work()
                        let waiting = state.withLock { $0.waiting.removeValue(forKey: key) }
                        waiting?.values.forEach { $0.resume(returning: value) }
                    }
                }
                // The cancellation handler below may have run before the continuation was registered.
                if Task.isCancelled { leave(id, key) }
            }
        } onCancel: {
            leave(id, key)
        }
    }

    private func leave(_ id: UInt64, _ key: Key) {
        let continuation = state.withLock { $0.waiting[key]?.removeValue(forKey: id) }
        continuation?.resume(returning: nil)
    }
}

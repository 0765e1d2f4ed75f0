import Synchronization

/// The beginning of the broker's stop, which ends waits that would delay it.
package final class StopSignal: Sendable {
    private let flag = Atomic(false)
    private let beginning = Broadcast<Void>()

    package init() {}

    package var hasBegun: Bool { flag.load(ordering: .sequentiallyConsistent) }

    /// The broker begins to stop. Only the first call counts.
    package func begin() {
        flag.store(true, ordering: .sequentiallyConsistent)
        beginning.tell(())
    }

    /// Waits until a promise of this waiter alone is fulfilled.
    ///
    /// - Parameters:
    ///   - stopped: fulfils it if the broker stops.
    ///   - canceled: fulfils it if the task is canceled.
    package func wait<Value: Sendable>(
        for promise: Promise<Value>, stopped: Value, canceled: Value
    ) async -> Value {
        let subscription = beginning.subscribe { promise.fulfil(stopped) }
        defer { withExtendedLifetime(subscription) {} }
        if hasBegun { promise.fulfil(stopped) }
        return await withTaskCancellationHandler {
            await promise.value
        } onCancel: {
            promise.fulfil(canceled)
        }
    }
}

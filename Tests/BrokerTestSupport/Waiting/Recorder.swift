import Synchronization

/// Records values from any thread. A test reads all of them, or waits for the next one.
package final class Recorder<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])
    private let stream: AsyncStream<Value>
    private let continuation: AsyncStream<Value>.Continuation

    package init() { (stream, continuation) = AsyncStream.makeStream() }

    package func add(_ value: Value) {
        values.withLock { $0.append(value) }
        continuation.yield(value)
    }

    package var all: [Value] { values.withLock { $0 } }

    /// The first value that this has not returned yet. `nil` if the task is cancelled.
    package func next() async -> Value? {
        var iterator = stream.makeAsyncIterator()
        return await iterator.next()
    }
}

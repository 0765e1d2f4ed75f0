import Synchronization

/// A value that is set once; readers wait for it. Later fulfilments are ignored.
package final class Promise<Value: Sendable>: Sendable {
    /// Gets the value, or `nil` if the reader's task was canceled.
    private typealias Resume = @Sendable (Value?) -> Void

    private enum State {
        /// The readers by their numbers, which count up.
        case open([UInt64: Resume])
        case fulfilled(Value)
    }

    private let state = Mutex(State.open([:]))
    private let lastReader = Atomic<UInt64>(0)

    package init() {}

    /// - Returns: whether this was the first fulfilment.
    @discardableResult
    package func fulfil(_ value: Value) -> Bool {
        let readers: [UInt64: Resume]? = state.withLock { state in
            guard case .open(let readers) = state else { return nil }
            state = .fulfilled(value)
            return readers
        }
        readers?.sorted { $0.key < $1.key }.forEach { $0.value(value) }
        return readers != nil
    }

    /// `nil` while it is open.
    package var current: Value? { state.withLock { if case .fulfilled(let value) = $0 { value } else { nil } } }

    package var value: Value {
        get async {
            await withCheckedContinuation { continuation in
                add(newReader()) { value in
                    // Only a canceled reader gets none.
                    if let value { continuation.resume(returning: value) }
                }
            }
        }
    }

    /// `nil` as soon as the task is canceled, unless the value is already there.
    package var valueUnlessCanceled: Value? {
        get async {
            let reader = newReader()
            return await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    add(reader) { continuation.resume(returning: $0) }
                    // A cancellation until now has found no reader.
                    if Task.isCancelled { remove(reader) }
                }
            } onCancel: {
                remove(reader)
            }
        }
    }

    private func newReader() -> UInt64 { lastReader.wrappingAdd(1, ordering: .relaxed).newValue }

    private func add(_ reader: UInt64, _ resume: @escaping Resume) {
        let ready: Value? = state.withLock { state in
            switch state {
            case .fulfilled(let value): return value
            case .open(var readers):
                // Without a second reference the dictionary changes in place.
                state = .open([:])
                readers[reader] = resume
                state = .open(readers)
                return nil
            }
        }
        if let ready { resume(ready) }
    }

    private func remove(_ reader: UInt64) {
        let resume: Resume? = state.withLock { state in
            guard case .open(var readers) = state else { return nil }
            state = .open([:])
            defer { state = .open(readers) }
            return readers.removeValue(forKey: reader)
        }
        resume?(nil)
    }
}

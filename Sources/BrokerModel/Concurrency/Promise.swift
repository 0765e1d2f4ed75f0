import Synchronization

/// A value that is set once; readers wait for it. Later fulfilments are ignored.
package final class Promise<Value: Sendable>: Sendable {
    private enum State {
        case open([CheckedContinuation<Value, Never>])
        case fulfilled(Value)
    }

    private let state = Mutex(State.open([]))

    package init() {}

    /// - Returns: whether this was the first fulfilment.
    @discardableResult
    package func fulfil(_ value: Value) -> Bool {
        let waiting: [CheckedContinuation<Value, Never>]? = state.withLock { state in
            guard case .open(let waiting) = state else { return nil }
            state = .fulfilled(value)
            return waiting
        }
        waiting?.forEach { $0.resume(returning: value) }
        return waiting != nil
    }

    /// `nil` while it is open.
    package var current: Value? { state.withLock { if case .fulfilled(let value) = $0 { value } else { nil } } }

    package var value: Value {
        get async {
            await withCheckedContinuation { continuation in
                let ready: Value? = state.withLock { state in
                    switch state {
                    case .fulfilled(let value): return value
                    case .open(let waiting):
                        state = .open(waiting + [continuation])
                        return nil
                    }
                }
                if let ready { continuation.resume(returning: ready) }
            }
        }
    }
}

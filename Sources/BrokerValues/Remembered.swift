import Synchronization

/// What is made of something that never changes, made when it is first asked for. It stands beside that, and goes with it: there
/// is nothing to be brought up to date.
package final class Remembered<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)

    package init() {}

    /// - Parameter make: gives the same whoever calls it.
    package func callAsFunction(_ make: () -> Value) -> Value {
        if let known = value.withLock({ $0 }) { return known }
        let made = make()
        value.withLock { $0 = made }
        return made
    }
}

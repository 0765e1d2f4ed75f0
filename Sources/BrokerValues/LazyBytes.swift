import Synchronization

/// Bytes that are derived from an immutable value, computed when they are first needed. They are stored with that value, and
/// released with it: they are never out of date.
package struct LazyBytes: ~Copyable, Sendable {
    /// The maximum number of bytes that are kept. Longer ones are computed each time, because bytes that are kept here count towards no limit.
    private static let maximumBytes = 2 << 10

    private let value = Mutex<[UInt8]?>(nil)

    package init() {}

    /// - Parameter make: returns the same for every caller.
    package func callAsFunction(_ make: () -> [UInt8]) -> [UInt8] {
        if let known = value.withLock({ $0 }) { return known }
        let made = make()
        if made.count <= Self.maximumBytes { value.withLock { $0 = made } }
        return made
    }
}

import Synchronization

/// Bytes that are made of something that never changes, made when they are first asked for. They stand beside that, and go with it:
/// there is nothing to be brought up to date.
package struct LazyBytes: ~Copyable, Sendable {
    /// More is made anew each time: what is kept here counts towards no limit.
    private static let most = 2 << 10

    private let value = Mutex<[UInt8]?>(nil)

    package init() {}

    /// - Parameter make: gives the same whoever calls it.
    package func callAsFunction(_ make: () -> [UInt8]) -> [UInt8] {
        if let known = value.withLock({ $0 }) { return known }
        let made = make()
        if made.count <= Self.most { value.withLock { $0 = made } }
        return made
    }
}

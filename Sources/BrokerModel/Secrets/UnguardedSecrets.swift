import Synchronization

/// The number of secrets in ordinary memory, because the system had no guarded pages, and of pages of secrets that could not be
/// locked. For the whole process, as is its memory: the administrator must learn of it.
package enum UnguardedSecrets {
    private static let total = Atomic<Int64>(0)
    private static let listener = Mutex<@Sendable (_ count: Int64) -> Void>({ _ in })

    package static var count: Int64 { total.load(ordering: .relaxed) }

    /// - Parameter tell: called for the first, and each time the number has doubled.
    package static func whenMore(_ tell: @escaping @Sendable (_ count: Int64) -> Void) {
        listener.withLock { $0 = tell }
    }

    static func add() {
        let count = total.add(1, ordering: .relaxed).newValue
        guard count & (count - 1) == 0 else { return }
        let tell = listener.withLock { $0 }
        tell(count)
    }
}

import Synchronization

/// How many secrets came to lie in ordinary memory, because the system gave no guarded pages, and how many pages of secrets could not be
/// locked. Of the whole process, as its
/// memory is: whoever runs the broker is to hear of it.
package enum UnguardedSecrets {
    private static let total = Atomic<Int64>(0)
    private static let listener = Mutex<@Sendable (_ count: Int64) -> Void>({ _ in })

    package static var count: Int64 { total.load(ordering: .relaxed) }

    /// - Parameter tell: called for the first, and each time that there are twice as many.
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

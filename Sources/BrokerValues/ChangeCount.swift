import Synchronization

/// How often something was changed that answers are decided by. Who remembers an answer compares: with the same count, nothing
/// was changed meanwhile.
package struct ChangeCount: ~Copyable, Sendable {
    private let count = Atomic<UInt64>(0)

    package init() {}

    /// To be called under the lock of what is changed: who has seen the change finds it counted, and so does whoever asks after them.
    package func add() { count.add(1, ordering: .acquiringAndReleasing) }

    /// To be read before what it counts the changes of.
    package var value: UInt64 { count.load(ordering: .acquiring) }
}

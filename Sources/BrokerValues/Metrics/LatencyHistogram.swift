import Synchronization

/// A histogram of durations.
package final class LatencyHistogram: Sendable {
    /// The upper bounds of the buckets, in microseconds: from a response out of memory to the longest wait for a provider.
    package static let bounds: [Int64] = [
        50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
        5_000_000, 10_000_000, 30_000_000,
    ]

    /// The counts. There is one bucket more than there are bounds: the last is for all longer durations.
    private let buckets = InlineArray<19, Atomic<Int64>> { _ in Atomic(0) }
    private let microseconds = Atomic<Int64>(0)

    package init() { precondition(buckets.count == Self.bounds.count + 1) }

    package func add(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let taken = max(0, seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
        // The hot path falls into the first bounds, so few are compared.
        let bucket = Self.bounds.firstIndex { taken <= $0 } ?? Self.bounds.count
        buckets[bucket].add(1, ordering: .relaxed)
        microseconds.add(taken, ordering: .relaxed)
    }

    /// The number of durations in each bucket; the last is beyond ``bounds``.
    package var counts: [Int64] { buckets.indices.map { buckets[$0].load(ordering: .relaxed) } }

    /// The total, in microseconds.
    package var sum: Int64 { microseconds.load(ordering: .relaxed) }
}

import Synchronization

/// A counter for any thread.
package final class Counter: Sendable {
    private let count = Atomic<Int64>(0)

    package init() {}

    package func add(_ number: Int64 = 1) { count.add(number, ordering: .relaxed) }

    package var value: Int64 { count.load(ordering: .relaxed) }
}

/// Counts outcomes. The set of outcomes is closed, regardless of what callers send.
package final class OutcomeCounts: Sendable {
    private let done = Counter()
    private let refused = Counter()
    private let failed: [ErrorKind: Counter]

    package init() { failed = Dictionary(uniqueKeysWithValues: ErrorKind.allCases.map { ($0, Counter()) }) }

    package func countDone() { done.add() }
    package func count(_ kind: ErrorKind) { failed[kind]?.add() }
    /// Counts an invalid request.
    package func countRefused() { refused.add() }

    /// The outcomes that have occurred, by name: `done`, `refused`, or the kind of the error.
    package var all: [(outcome: String, count: Int64)] {
        let kinds = ErrorKind.allCases.map { ($0.rawValue, failed[$0]?.value ?? 0) }
        return ([("done", done.value), ("refused", refused.value)] + kinds).filter { $0.1 > 0 }
    }
}

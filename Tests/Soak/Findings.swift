import Synchronization

/// Counts of events, and failures.
final class Findings: Sendable {
    private struct State {
        var counts: [String: Int] = [:]
        var wrong: [String] = []
    }

    /// The first ones suffice.
    private static let limit = 50
    private let state = Mutex(State())

    func count(_ what: String, _ times: Int = 1) { state.withLock { $0.counts[what, default: 0] += times } }

    func add(_ wrong: String) {
        state.withLock { if $0.wrong.count < Self.limit, !$0.wrong.contains(wrong) { $0.wrong.append(wrong) } }
    }

    /// A run that did next to nothing found nothing.
    func require(_ least: Int, of kinds: [String]) {
        for kind in kinds {
            let count = state.withLock { $0.counts[kind, default: 0] }
            if count < least { add("only \(count) \(kind)") }
        }
    }

    var wrong: [String] { state.withLock { $0.wrong } }

    var summary: String {
        state.withLock { state in
            state.counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        }
    }
}

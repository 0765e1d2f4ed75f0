import Synchronization

/// What was found damaged and waits for being set aside, and how much was.
final class QuarantineQueue: Sendable {
    struct Found: Sendable {
        /// Rows that do not open, or are not of the last commit.
        var rows: Set<Int64> = []
        /// Pages of the manifest that their rows do not agree with.
        var places: Set<ManifestPlace> = []

        var isEmpty: Bool { rows.isEmpty && places.isEmpty }
    }

    private struct State {
        var moved: Int
        var missing: Int
        var waiting = Found()
    }

    private let state: Mutex<State>

    /// - Parameters:
    ///   - moved: rows that lie in quarantine already.
    ///   - missing: rows that are known to be gone.
    init(moved: Int, missing: Int) { state = Mutex(State(moved: moved, missing: missing)) }

    var total: Int { state.withLock { $0.moved + $0.waiting.rows.count } }
    var missing: Int { state.withLock { $0.missing } }
    var waiting: Found { state.withLock { $0.waiting } }

    /// - Returns: whether there is something in it that did not wait yet. It may still have been settled between being read
    ///   and being reported here; that is seen when it is looked at again.
    func found(_ found: Found) -> Bool {
        state.withLock { state in
            let before = state.waiting
            state.waiting.rows.formUnion(found.rows)
            state.waiting.places.formUnion(found.places)
            return state.waiting.rows.count > before.rows.count || state.waiting.places.count > before.places.count
        }
    }

    /// A person has looked at it.
    ///
    /// - Parameters:
    ///   - moved: rows that are still in quarantine.
    ///   - missing: rows that are still known to be gone.
    func accepted(leaving moved: Int, missing: Int) {
        state.withLock { ($0.moved, $0.missing) = (moved, missing) }
    }

    /// All of it was looked at again.
    ///
    /// - Parameters:
    ///   - moved: how many rows are in quarantine now; others are gone, or had been replaced by whole ones meanwhile.
    ///   - missing: how many were found to be gone.
    func settled(_ found: Found, moved: Int, missing: Int) {
        state.withLock { state in
            state.waiting.rows.subtract(found.rows)
            state.waiting.places.subtract(found.places)
            state.moved += moved
            state.missing += missing
        }
    }
}

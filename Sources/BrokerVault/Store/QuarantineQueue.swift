import Synchronization

/// Damaged rows that are waiting to be moved to quarantine, and how many there were.
final class QuarantineQueue: Sendable {
    struct Found: Sendable {
        /// Rows that do not open, or do not belong to the last commit.
        var rows: Set<Int64> = []
        /// Pages of the manifest that do not match their rows.
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
    ///   - moved: rows that are in quarantine already.
    ///   - missing: rows that are known to be gone.
    init(moved: Int, missing: Int) { state = Mutex(State(moved: moved, missing: missing)) }

    var total: Int { state.withLock { $0.moved + $0.waiting.rows.count } }
    var missing: Int { state.withLock { $0.missing } }
    var waiting: Found { state.withLock { $0.waiting } }

    /// - Returns: whether it adds something new. It may have been settled between being read and being reported here; the next
    ///   check finds that out.
    func found(_ found: Found) -> Bool {
        state.withLock { state in
            let before = state.waiting
            state.waiting.rows.formUnion(found.rows)
            state.waiting.places.formUnion(found.places)
            return state.waiting.rows.count > before.rows.count || state.waiting.places.count > before.places.count
        }
    }

    /// Called when the user has accepted the state.
    ///
    /// - Parameters:
    ///   - moved: rows that are still in quarantine.
    ///   - missing: rows that are still known to be gone.
    func accepted(leaving moved: Int, missing: Int) {
        state.withLock { ($0.moved, $0.missing) = (moved, missing) }
    }

    /// Called when everything found has been checked again.
    ///
    /// - Parameters:
    ///   - moved: how many rows are in quarantine now; others are gone, or have been replaced by whole ones.
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

import Synchronization

/// Which rows were found damaged and wait for being set aside, and how many were.
final class QuarantineQueue: Sendable {
    private struct State {
        var moved: Int
        var waiting: Set<Int64> = []
    }

    private let state: Mutex<State>

    /// - Parameter moved: rows that lie in quarantine already.
    init(moved: Int) { state = Mutex(State(moved: moved)) }

    var total: Int { state.withLock { $0.moved + $0.waiting.count } }
    var waiting: [Int64] { state.withLock { $0.waiting.sorted() } }

    /// - Returns: whether there is one among them that did not wait yet. It may still have been moved between being read
    ///   and being reported here; that is settled as mended.
    func found(_ rows: [Int64]) -> Bool {
        state.withLock { state in
            let before = state.waiting.count
            state.waiting.formUnion(rows)
            return state.waiting.count > before
        }
    }

    /// - Parameters:
    ///   - moved: are in quarantine now.
    ///   - mended: are gone or had been replaced by whole ones meanwhile.
    func settled(moved: [Int64], mended: [Int64]) {
        state.withLock { state in
            state.waiting.subtract(moved)
            state.waiting.subtract(mended)
            state.moved += moved.count
        }
    }
}

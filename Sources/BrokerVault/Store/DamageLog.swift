import Synchronization

/// Which rows were found damaged and wait for being set aside, and how many there were in all.
final class DamageLog: Sendable {
    private struct State {
        var total: Int
        var waiting: Set<Int64> = []
    }

    private let state: Mutex<State>

    init(total: Int) { state = Mutex(State(total: total)) }

    var total: Int { state.withLock { $0.total } }
    var waiting: [Int64] { state.withLock { $0.waiting.sorted() } }

    /// - Returns: those of the rows that were not known yet.
    func found(_ rows: [Int64]) -> [Int64] {
        state.withLock { state in
            let new = rows.filter { state.waiting.insert($0).inserted }
            state.total += new.count
            return new
        }
    }

    /// - Parameters:
    ///   - moved: are in quarantine now.
    ///   - mended: had been replaced by whole ones meanwhile.
    func settled(moved: [Int64], mended: [Int64]) {
        state.withLock { state in
            state.waiting.subtract(moved)
            state.waiting.subtract(mended)
            state.total -= mended.count
        }
    }
}

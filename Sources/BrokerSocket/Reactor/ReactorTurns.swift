import Dispatch
import Synchronization

/// Lets a few at a time of those reactors go on that always have more to do than fits into a turn, one after the other.
///
/// The others take no part. So whoever floods the broker over many connections, each with a thread of its own, gets the processors
/// of few threads, and not of all.
final class ReactorTurns: Sendable {
    private struct State {
        var free: Int
        /// Who came first is first.
        var waiting: [DispatchSemaphore] = []
    }

    private let state: Mutex<State>

    /// - Parameter most: how many go on at a time.
    init(most: Int) { state = Mutex(State(free: max(1, most))) }

    /// Returns when it is the caller's turn, which ends with ``end()``.
    ///
    /// - Parameter bell: the caller's own, to wait for.
    func begin(_ bell: DispatchSemaphore) {
        let mustWait = state.withLock { state in
            guard state.free == 0 else {
                state.free -= 1
                return false
            }
            state.waiting.append(bell)
            return true
        }
        if mustWait { bell.wait() }
    }

    func end() {
        let next = state.withLock { state -> DispatchSemaphore? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.free += 1
            return nil
        }
        next?.signal()
    }
}

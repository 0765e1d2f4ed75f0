import BrokerAccess
import Synchronization

/// Who is connected now, for people who want to know.
final class ConnectedCallers: Sendable {
    private let state = Mutex((next: UInt64(0), callers: [UInt64: Caller]()))

    /// - Returns: names the connection when it ends.
    func enter(_ caller: Caller) -> UInt64 {
        state.withLock { state in
            state.next += 1
            state.callers[state.next] = caller
            return state.next
        }
    }

    func leave(_ number: UInt64) { state.withLock { $0.callers[number] = nil } }

    /// The oldest connection first.
    var all: [Caller] { state.withLock { state in state.callers.sorted { $0.key < $1.key }.map(\.value) } }
}

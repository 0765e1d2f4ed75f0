import BrokerAccess
import BrokerModel
import Synchronization

/// The callers connected now, for display.
final class ConnectedCallers: Sendable {
    private let state = Mutex((next: UInt64(0), callers: [UInt64: Caller]()))

    /// - Returns: identifies the connection when it ends.
    func enter(_ caller: Caller) -> UInt64 {
        state.withLock { state in
            state.next += 1
            state.callers[state.next] = caller
            return state.next
        }
    }

    func leave(_ number: UInt64) { state.withLock { $0.callers[number] = nil } }

    /// Oldest connection first.
    func all(in partition: Partition) -> [Caller] {
        state.withLock { state in
            state.callers.filter { $0.value.partition == partition }.sorted { $0.key < $1.key }.map(\.value)
        }
    }
}

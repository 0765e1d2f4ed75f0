import BrokerAccess
import BrokerModel
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
    func all(in partition: Partition) -> [Caller] {
        state.withLock { state in
            state.callers.filter { $0.value.partition == partition }.sorted { $0.key < $1.key }.map(\.value)
        }
    }
}

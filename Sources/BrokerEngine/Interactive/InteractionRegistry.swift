import BrokerModel
import BrokerValues
import Synchronization

/// The sign-ins that wait, so that a redirect or a cancel can find its own.
final class InteractionRegistry: Sendable {
    private let sessions = Mutex<[String: InteractionSession]>([:])

    func add(_ session: InteractionSession) { sessions.withLock { $0[session.id] = session } }
    func remove(_ session: InteractionSession) { sessions.withLock { $0[session.id] = nil } }

    func session(_ id: String, in partition: Partition) -> InteractionSession? {
        sessions.withLock { $0[id] }.flatMap { $0.partition == partition ? $0 : nil }
    }

    /// Offers a redirect to every waiting sign-in of the person; at most one takes it, for states are unique.
    func deliver(_ redirect: RedirectParameters, in partition: Partition) -> Bool {
        sessions.withLock { Array($0.values) }.contains { $0.partition == partition && $0.take(redirect) }
    }

    func endAll(_ error: BrokerError) {
        sessions.withLock { Array($0.values) }.forEach { $0.end(error) }
    }
}

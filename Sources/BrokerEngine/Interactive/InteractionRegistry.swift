import BrokerModel
import BrokerValues
import Synchronization

/// What waits for a person: a sign-in in a browser, a code to be typed in elsewhere, the end of a browser's session.
protocol WaitingInteraction: Sendable {
    var id: String { get }
    var partition: Partition { get }

    /// - Returns: whether the redirect was the answer this one waits for.
    func take(_ redirect: RedirectParameters) -> Bool

    /// - Returns: whether the person was still being waited for.
    @discardableResult
    func end(_ error: BrokerError) -> Bool
}

/// The interactions that wait, so that a redirect or a cancel can find its own.
final class InteractionRegistry: Sendable {
    private let sessions = Mutex<[String: any WaitingInteraction]>([:])

    func add(_ session: some WaitingInteraction) { sessions.withLock { $0[session.id] = session } }
    func remove(_ session: some WaitingInteraction) { sessions.withLock { $0[session.id] = nil } }

    func session(_ id: String, in partition: Partition) -> (any WaitingInteraction)? {
        sessions.withLock { $0[id] }.flatMap { $0.partition == partition ? $0 : nil }
    }

    /// Offers a redirect to everything that waits for the person; at most one takes it, for states are unique.
    func deliver(_ redirect: RedirectParameters, in partition: Partition) -> Bool {
        sessions.withLock { Array($0.values) }.contains { $0.partition == partition && $0.take(redirect) }
    }

    func endAll(_ error: BrokerError) {
        sessions.withLock { Array($0.values) }.forEach { $0.end(error) }
    }
}

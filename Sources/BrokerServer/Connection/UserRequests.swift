import BrokerModel
import BrokerValues
import Synchronization

/// How many requests of each user are under way, over all their connections, so that nobody waits long behind one user.
///
/// It counts the work and not who waits for it: whoever closes a connection does not get rid of what it asked for.
final class UserRequests: Sendable {
    /// A connection goes on with so many, however many its user has.
    static let few = 2

    /// Nil where the broker serves one user.
    private let most: Int?
    private let counts = Mutex<[Partition: Int]>([:])

    init(most: Int?) { self.most = most }

    func begin(_ requests: Int, of partition: Partition) {
        guard most != nil else { return }
        counts.withLock { $0[partition, default: 0] += requests }
    }

    func end(_ requests: Int, of partition: Partition) {
        guard most != nil else { return }
        counts.withLock { counts in
            let rest = counts[partition, default: 0] - requests
            counts[partition] = rest > 0 ? rest : nil
        }
    }

    /// Connections with more than a few are not read then.
    func areMany(of partition: Partition) -> Bool { most.map { count(of: partition) >= $0 } ?? false }

    /// One more is refused then, for a user who comes with ever new connections.
    func areTooMany(of partition: Partition) -> Bool { most.map { count(of: partition) >= 2 * $0 } ?? false }

    static let tooMany = BrokerError(
        .throttled, "The programs of your user have too many requests under way; wait for some to be answered."
    ) { $0.retryAfter = 1 }

    private func count(of partition: Partition) -> Int { counts.withLock { $0[partition, default: 0] } }
}

import BrokerModel
import BrokerValues
import Synchronization

/// The number of each user's requests in progress, over all their connections, so that one user cannot delay others for long.
///
/// It counts requests, not waiting clients: closing a connection does not remove its requests from the count.
final class UserRequests: Sendable {
    /// A connection may always have so many, regardless of its user's total.
    static let few = 2

    /// `nil` if the broker serves one user.
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

    /// Whether connections with more than a few are no longer read.
    func areMany(of partition: Partition) -> Bool { most.map { count(of: partition) >= $0 } ?? false }

    /// Whether one more is refused, as for a user who keeps opening connections.
    func areTooMany(of partition: Partition) -> Bool { most.map { count(of: partition) >= 2 * $0 } ?? false }

    static let tooMany = BrokerError(
        .throttled, "The programs of your user have too many requests under way; wait for some to be answered."
    ) { $0.retryAfter = 1 }

    private func count(of partition: Partition) -> Int { counts.withLock { $0[partition, default: 0] } }
}

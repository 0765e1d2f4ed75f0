import BrokerValues
import Synchronization

/// The storage quota of each user, so that no user fills the disk for all (docs/decisions/0027). The audit log has its own limit.
///
/// It is checked before work begins. Results of work under way are kept even if the quota is reached: the provider has replaced a
/// refresh token by then, and the session would be lost with the new one.
package final class PartitionQuota: Sendable {
    /// Requests that one count admits: counting reads every row.
    package static let worksOfOneCount = 16
    /// A user without room is not counted again before this time.
    static let patience = Duration.seconds(1)
    /// The number of users whose count is kept.
    static let maximumKnown = 4_096

    private struct Count {
        var bytes: Int
        var worksLeft = worksOfOneCount
        var takenAt: Duration
    }

    private let vault: any RecordVault
    private let clock: any BrokerClock
    private let limit: @Sendable () -> Int?
    private let counts = Mutex<[Partition: Count]>([:])

    /// - Parameter limit: bytes; nil for no limit.
    package init(vault: any RecordVault, clock: any BrokerClock, limit: @escaping @Sendable () -> Int?) {
        (self.vault, self.clock, self.limit) = (vault, clock, limit)
    }

    /// - Throws: `throttled` (`quotaReached`).
    package func requireRoom(in partition: Partition) throws(BrokerError) {
        guard let limit = limit(), try bytes(of: partition, limit) >= limit else { return }
        throw Self.refusal(
            limit, "Your records take",
            "remove what you do not need (brokerctl accounts forget, apps remove, cache clear)")
    }

    /// For uploads that are kept outside the records, and may be as large again.
    ///
    /// - Throws: `throttled` (`quotaReached`).
    package func requireRoom(forGathering bytes: Int) throws(BrokerError) {
        guard let limit = limit(), bytes > limit else { return }
        throw Self.refusal(limit, "The import takes", "import less at a time")
    }

    /// Call it after work that may have added much.
    package func countAnew(_ partition: Partition) { counts.withLock { $0[partition] = nil } }

    private func bytes(of partition: Partition, _ limit: Int) throws(BrokerError) -> Int {
        let now = clock.uptime
        let known = counts.withLock { counts -> Int? in
            guard let count = counts[partition] else { return nil }
            if count.bytes >= limit { return now - count.takenAt < Self.patience ? count.bytes : nil }
            guard count.worksLeft > 0 else { return nil }
            counts[partition]?.worksLeft -= 1
            return count.bytes
        }
        if let known { return known }
        let bytes: Int
        do throws(VaultError) { bytes = try vault.statistics(of: partition).bytesWithoutLog } catch {
            throw BrokerError(
                .internal, "Your records cannot be counted; see the broker's log.",
                reason: .vaultDamaged, cause: error)
        }
        counts.withLock { counts in
            if counts.count >= Self.maximumKnown { counts = [:] }
            counts[partition] = Count(bytes: bytes, takenAt: now)
        }
        return bytes
    }

    private static func refusal(_ limit: Int, _ what: String, _ cure: String) -> BrokerError {
        BrokerError(
            .throttled,
            "\(what) all of the \(limit >> 20) MiB that one user may have here; \(cure), or ask the administrator to raise vault.quota.",
            reason: .quotaReached)
    }
}

import BrokerModel
import BrokerValues
import Synchronization

/// Backups on their way out or in: a message holds a part of one, so they come and go in several.
///
/// Each is its person's, and ends a minute after its last part, whether or not the other side is done: no key and no space
/// is held for who went away. A lock ends all.
final class CacheTransfers: Sendable {
    enum Transfer: Sendable {
        case export(CacheExport)
        case gathered(any GatheredBackup)
    }

    private struct Place {
        let partition: Partition
        let transfer: Transfer
        var lastUse: Duration
    }

    static let patience = Duration.seconds(60)
    /// Of one person at a time.
    static let most = 4

    private let clock: any BrokerClock
    private let random: any RandomSource
    private let places = Mutex<[String: Place]>([:])

    init(clock: any BrokerClock, random: any RandomSource) {
        self.clock = clock
        self.random = random
    }

    /// - Returns: what it is called.
    func add(_ transfer: Transfer, in partition: Partition) throws(BrokerError) -> String {
        let id = Base64URL.encode(random.bytes(16))
        try places.withLock { places throws(BrokerError) in
            guard places.values.count(where: { $0.partition == partition }) < Self.most else {
                throw BrokerError(
                    .throttled, "\(Self.most) exports or imports are under way already; wait a minute.",
                    reason: nil
                ) { $0.retryAfter = Int(Self.patience.components.seconds) }
            }
            places[id] = Place(partition: partition, transfer: transfer, lastUse: clock.uptime)
        }
        Task { await self.watch(id) }
        return id
    }

    /// - Throws: `invalidParameter` for one that is over, or another person's.
    func transfer(_ id: String, in partition: Partition) throws(BrokerError) -> Transfer {
        let found = places.withLock { places -> Transfer? in
            guard places[id]?.partition == partition else { return nil }
            places[id]?.lastUse = clock.uptime
            return places[id]?.transfer
        }
        guard let found else { throw Self.over }
        return found
    }

    static let over = BrokerError(
        .invalidParameter, "There is no such export or import any more; start it again.")

    func remove(_ id: String) { places.withLock { $0[id] = nil } }

    func removeAll() { places.withLock { $0 = [:] } }

    private func watch(_ id: String) async {
        while let rest = places.withLock({ places in places[id].map { $0.lastUse + Self.patience - clock.uptime } }) {
            guard rest > .zero else { return remove(id) }
            do { try await clock.sleep(for: rest) } catch { return remove(id) }
        }
    }
}

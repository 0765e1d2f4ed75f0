import BrokerModel
import BrokerValues
import Logging
import Synchronization

/// Refresh tokens are marked durably before they are sent (decision 74). Of many that leave at once the marks are one
/// transaction: whoever comes while the disk is busy shares the next.
final class TokensUnderWay: Sendable {
    typealias RefreshToken = StoredRecord<RefreshTokenRecord>

    private struct Departure: Sendable {
        let token: RefreshToken
        let marked = Promise<RefreshToken>()
    }

    private final class Batch: Sendable {
        /// A transaction of many rows keeps others from the disk.
        static let limit = 128
        let departures = Mutex<[Departure]>([])
    }

    private let vault: any RecordVault
    private let writer: CacheWriter
    private let clock: any BrokerClock
    private let log: Logger
    /// Those whose turn at the disk has not come.
    private let waiting = Mutex<[Partition: Batch]>([:])

    init(vault: any RecordVault, writer: CacheWriter, clock: any BrokerClock, log: Logger) {
        (self.vault, self.writer, self.clock, self.log) = (vault, writer, clock, log)
    }

    /// - Returns: the token as it is from now on. When the vault does not take the mark, it may be sent all the same.
    func mark(_ token: RefreshToken, in partition: Partition) async -> RefreshToken {
        guard token.record.unansweredAt == nil else { return token }
        let departure = Departure(token: token)
        let new: Batch? = waiting.withLock { waiting in
            let open = waiting[partition]
            let batch = open ?? Batch()
            let count = batch.departures.withLock {
                $0.append(departure)
                return $0.count
            }
            waiting[partition] = count < Batch.limit ? batch : nil
            return open == nil ? batch : nil
        }
        if let new { await write(new, in: partition) }
        return await departure.marked.value
    }

    private func write(_ batch: Batch, in partition: Partition) async {
        do throws(VaultError) {
            let marked = try await writer.write(in: partition) { [self] index throws(VaultError) in
                var change = CacheChange(in: partition)
                let marked = close(batch, in: partition).map { ($0, self.marked($0.token, in: partition, index)) }
                for case (let departure, let token) in marked where token.sealed.box != departure.token.sealed.box {
                    change.add(.refreshToken(.put(token)))
                }
                return (change, marked)
            }.answer
            for (departure, token) in marked { departure.marked.fulfil(token) }
        } catch {
            log.error("refresh tokens are sent without a mark", metadata: ["cause": "\(error)"])
            for departure in close(batch, in: partition) { departure.marked.fulfil(departure.token) }
        }
    }

    private func close(_ batch: Batch, in partition: Partition) -> [Departure] {
        waiting.withLock { if $0[partition] === batch { $0[partition] = nil } }
        return batch.departures.withLock { $0 }
    }

    /// In the write queue. - Returns: the same for one that was replaced meanwhile.
    private func marked(_ token: RefreshToken, in partition: Partition, _ index: CacheIndex) -> RefreshToken {
        do throws(VaultError) {
            let owner = CacheIndex.OwnerKey(partition: partition, owner: token.record.owner)
            guard try index.loadTokens(of: owner).holds(token) else { return token }
            var record = token.record
            record.unansweredAt = clock.now
            return try vault.seal(record, secret: try vault.secret(of: token.sealed), in: partition)
        } catch {
            log.error("a refresh token is sent without a mark", metadata: ["cause": "\(error)"])
            return token
        }
    }
}

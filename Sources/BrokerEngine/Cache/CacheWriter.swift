import BrokerModel
import BrokerValues
import Logging
import Synchronization

/// The one place that changes the cache: disk first, then memory, of one person one ``CacheChange`` after the other. Nobody waits
/// behind another person's: the vault lets users take turns.
///
/// When the disk refuses, memory takes the change all the same (the token is good, and losing a rotated refresh token
/// would end the session); what was refused waits and is tried again, with the next change and every few seconds. Of what
/// waits, a later change takes the place of an earlier one of the same record: however long the disk is full, no more waits
/// than there are records.
package final class CacheWriter: Sendable {
    private struct State {
        /// Of each person's changes that wait or are under way, the last.
        var tails: [Partition: (number: UInt64, task: Task<Void, Never>)] = [:]
        var count: UInt64 = 0
        /// What the disk lacks: of each record the last word.
        var backlog: [Partition: CacheChange] = [:]
        var retry: Task<Void, Never>?
    }

    private let vault: any RecordVault
    private let index: CacheIndex
    private let clock: any BrokerClock
    private let settings: @Sendable () -> EngineSettings
    private let log: Logger
    private let state = Mutex(State())

    package init(
        vault: any RecordVault, index: CacheIndex, clock: any BrokerClock,
        settings: @escaping @Sendable () -> EngineSettings, log: Logger
    ) {
        self.vault = vault
        self.index = index
        self.clock = clock
        self.settings = settings
        self.log = log
    }

    /// - Parameter decide: says what changes, from the state that all earlier changes have led to, and what the caller
    ///   wants to know of that.
    /// - Returns: that, and whether the disk has the change.
    /// - Throws: when nothing was changed.
    package func write<Answer: Sendable>(
        in partition: Partition,
        _ decide: @escaping @Sendable (CacheIndex) throws(VaultError) -> (change: CacheChange, answer: Answer)
    ) async throws(VaultError) -> (answer: Answer, isPersisted: Bool) {
        try await enqueue(in: partition) { await self.perform(in: partition, decide) }.value.get()
    }

    /// Whether the disk has a record that is in memory. Quick: part of the hot path.
    package func hasWritten(_ record: SealedRecord) -> Bool {
        state.withLock { state in
            state.backlog.isEmpty || !state.backlog.values.contains { $0.puts(record) }
        }
    }

    /// Waits for what is under way, and tries once more to write what was refused. - Returns: whether nothing is left.
    package func flush() async -> Bool {
        var isDone = true
        for partition in state.withLock({ Set($0.tails.keys).union($0.backlog.keys) }) {
            isDone = await flush(partition) && isDone
        }
        return isDone
    }

    /// As ``flush()``, for one person.
    package func flush(_ partition: Partition) async -> Bool {
        await enqueue(in: partition) { [self] in
            let isDone = await writeBacklog(of: partition)
            if isDone { index.diskIsLevel(of: partition) }
            return isDone
        }.value
    }

    private func enqueue<Value: Sendable>(
        in partition: Partition, _ job: @escaping @Sendable () async -> Value
    ) -> Task<Value, Never> {
        state.withLock { state in
            let previous = state.tails[partition]?.task
            let task = Task {
                await previous?.value
                return await job()
            }
            state.count += 1
            let number = state.count
            let tail = Task {
                _ = await task.value
                self.state.withLock { if $0.tails[partition]?.number == number { $0.tails[partition] = nil } }
            }
            state.tails[partition] = (number, tail)
            return task
        }
    }

    private func perform<Answer: Sendable>(
        in partition: Partition,
        _ decide: @Sendable (CacheIndex) throws(VaultError) -> (change: CacheChange, answer: Answer)
    ) async -> Result<(answer: Answer, isPersisted: Bool), VaultError> {
        do throws(VaultError) {
            var (change, answer) = try decide(index)
            let around = try index.surroundings(of: &change)
            if !change.isEmpty {
                state.withLock { [change] in
                    $0.backlog[partition, default: CacheChange(in: partition)].add(change.rows)
                }
            }
            let isPersisted = await writeBacklog(of: partition)
            index.take(around, in: partition, isOnDisk: isPersisted)
            if !isPersisted { scheduleRetry() }
            return .success((answer, isPersisted))
        } catch {
            return .failure(error)
        }
    }

    /// - Returns: whether nothing is left.
    private func writeBacklog(of partition: Partition) async -> Bool {
        guard let change = state.withLock({ $0.backlog[partition] }) else { return true }
        do throws(VaultError) {
            try await vault.commit(change.onDisk)
            state.withLock { $0.backlog[partition] = nil }
            return true
        } catch {
            log.error(
                "the vault could not be written; the change is kept in memory and will be tried again",
                metadata: ["cause": "\(error)"])
            return false
        }
    }

    private func scheduleRetry() {
        state.withLock { state in
            guard state.retry == nil else { return }
            state.retry = Task {
                repeat {
                    do { try await clock.sleep(for: .seconds(settings().writeRetryInterval)) } catch { break }
                } while await !flush()
                self.state.withLock { $0.retry = nil }
                log.notice("the vault is written again")
            }
        }
    }

    package func stopRetrying() { state.withLock { $0.retry }?.cancel() }
}

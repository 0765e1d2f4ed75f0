import BrokerModel
import BrokerValues
import Logging
import Synchronization

/// The one place that changes the cache: disk first, then memory, one ``CacheChange`` after the other.
///
/// When the disk refuses, memory takes the change all the same (the token is good, and losing a rotated refresh token
/// would end the session); what was refused waits and is tried again, with the next change and every few seconds. Of what
/// waits, a later change takes the place of an earlier one of the same record: however long the disk is full, no more waits
/// than there are records.
package final class CacheWriter: Sendable {
    private struct State {
        var last: Task<Void, Never>?
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
        _ decide: @escaping @Sendable (CacheIndex) throws(VaultError) -> (change: CacheChange, answer: Answer)
    ) async throws(VaultError) -> (answer: Answer, isPersisted: Bool) {
        try await enqueue { await self.perform(decide) }.value.get()
    }

    /// Whether the disk has a record that is in memory. Quick: part of the hot path.
    package func hasWritten(_ record: SealedRecord) -> Bool {
        state.withLock { state in
            state.backlog.isEmpty || !state.backlog.values.contains { $0.puts(record) }
        }
    }

    /// Tries once more to write what was refused. - Returns: whether nothing is left.
    package func flush() async -> Bool {
        await enqueue { [self] in
            let isDone = await writeBacklog()
            if isDone { index.diskIsLevel() }
            return isDone
        }.value
    }

    private func enqueue<Value: Sendable>(_ job: @escaping @Sendable () async -> Value) -> Task<Value, Never> {
        state.withLock { state in
            let previous = state.last
            let task = Task {
                await previous?.value
                return await job()
            }
            state.last = Task { _ = await task.value }
            return task
        }
    }

    private func perform<Answer: Sendable>(
        _ decide: @Sendable (CacheIndex) throws(VaultError) -> (change: CacheChange, answer: Answer)
    ) async -> Result<(answer: Answer, isPersisted: Bool), VaultError> {
        do throws(VaultError) {
            var (change, answer) = try decide(index)
            let around = try index.surroundings(of: &change)
            if !change.isEmpty {
                state.withLock { [change] in
                    $0.backlog[change.partition, default: CacheChange(in: change.partition)].add(change.rows)
                }
            }
            let isPersisted = await writeBacklog()
            index.take(around, isOnDisk: isPersisted)
            if !isPersisted { scheduleRetry() }
            return .success((answer, isPersisted))
        } catch {
            return .failure(error)
        }
    }

    /// - Returns: whether nothing is left.
    private func writeBacklog() async -> Bool {
        while let change = state.withLock({ $0.backlog.values.first }) {
            do throws(VaultError) {
                try await vault.commit(change.onDisk)
                state.withLock { $0.backlog[change.partition] = nil }
            } catch {
                log.error(
                    "the vault could not be written; the change is kept in memory and will be tried again",
                    metadata: ["cause": "\(error)"])
                return false
            }
        }
        return true
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

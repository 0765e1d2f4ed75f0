import BrokerModel
import BrokerValues
import Logging
import Synchronization

/// The one place that changes the cache: disk first, then memory, one ``CacheChange`` after the other.
///
/// When the disk refuses, memory takes the change all the same (the token is good, and losing a rotated refresh token
/// would end the session); what was refused waits in order and is tried again, with the next change and every few seconds.
package final class CacheWriter: Sendable {
    private struct State {
        var last: Task<Void, Never>?
        var backlog: [VaultChange] = []
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
            state.backlog.allSatisfy { change in !change.puts.contains { $0.box == record.box } }
        }
    }

    /// Tries once more to write what was refused. - Returns: whether nothing is left.
    package func flush() async -> Bool {
        await enqueue { await self.writeBacklog() }.value
        return state.withLock { $0.backlog.isEmpty }
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
            let (change, answer) = try decide(index)
            try index.load(for: change)
            if !change.isEmpty { state.withLock { $0.backlog.append(change.onDisk) } }
            await writeBacklog()
            index.apply(change)
            let isPersisted = state.withLock { $0.backlog.isEmpty }
            if isPersisted { index.trim(toOwners: settings().indexedOwners) } else { scheduleRetry() }
            return .success((answer, isPersisted))
        } catch {
            return .failure(error)
        }
    }

    /// In order: a later change may undo an earlier one.
    private func writeBacklog() async {
        while let change = state.withLock({ $0.backlog.first }) {
            do throws(VaultError) {
                try await vault.commit(change)
                state.withLock { _ = $0.backlog.removeFirst() }
            } catch {
                log.error(
                    "the vault could not be written; the change is kept in memory and will be tried again",
                    metadata: ["cause": "\(error)"])
                return
            }
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

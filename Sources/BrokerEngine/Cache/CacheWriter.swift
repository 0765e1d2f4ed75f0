import BrokerModel
import BrokerValues
import Logging
import Synchronization

/// The one place that changes the cache: disk first, then memory, one change after the other.
///
/// When the disk refuses, memory takes the change all the same (the token is good, and losing a rotated refresh token
/// would end the session); what was refused waits in order and is tried again, with the next change and every few seconds.
final class CacheWriter: Sendable {
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

    init(
        vault: any RecordVault, index: CacheIndex, clock: any BrokerClock,
        settings: @escaping @Sendable () -> EngineSettings, log: Logger
    ) {
        self.vault = vault
        self.index = index
        self.clock = clock
        self.settings = settings
        self.log = log
    }

    /// - Parameters:
    ///   - plan: computes the change from the state that all earlier changes have led to.
    ///   - apply: brings the change into memory; called after the disk has answered.
    /// - Returns: whether the disk has it.
    func write(
        _ plan: @escaping @Sendable () throws(VaultError) -> VaultChange,
        apply: @escaping @Sendable (CacheIndex) throws(VaultError) -> Void
    ) async -> Result<Bool, VaultError> {
        let outcome = Mutex<Result<Bool, VaultError>>(.success(false))
        await enqueue {
            let result = await self.perform(plan, apply: apply)
            outcome.withLock { $0 = result }
        }.value
        return outcome.withLock { $0 }
    }

    /// Whether the disk has a record that is in memory. Quick: part of the hot path.
    func hasWritten(_ record: SealedRecord) -> Bool {
        state.withLock { state in
            state.backlog.allSatisfy { change in !change.puts.contains { $0.box == record.box } }
        }
    }

    /// Tries once more to write what was refused. - Returns: whether nothing is left.
    func flush() async -> Bool {
        await enqueue { await self.writeBacklog() }.value
        return state.withLock { $0.backlog.isEmpty }
    }

    private func enqueue(_ job: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        state.withLock { state in
            let previous = state.last
            let task = Task {
                await previous?.value
                await job()
            }
            state.last = task
            return task
        }
    }

    private func perform(
        _ plan: @Sendable () throws(VaultError) -> VaultChange,
        apply: @Sendable (CacheIndex) throws(VaultError) -> Void
    ) async -> Result<Bool, VaultError> {
        do throws(VaultError) {
            let change = try plan()
            if !change.isEmpty { state.withLock { $0.backlog.append(change) } }
            await writeBacklog()
            try apply(index)
            let persisted = state.withLock { $0.backlog.isEmpty }
            if persisted { index.trim(toOwners: settings().indexedOwners) } else { scheduleRetry() }
            return .success(persisted)
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

    func stopRetrying() { state.withLock { $0.retry }?.cancel() }
}

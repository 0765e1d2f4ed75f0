import BrokerModel
import BrokerValues
import Logging
import Synchronization

/// The only place that changes the cache: disk first, then memory, one ``CacheChange`` per person at a time. No person waits for
/// another's: the vault lets users take turns. Many changes that arrive while the disk is busy become one transaction
/// (``PendingChanges``): a thousand refreshes do not cost a thousand fsync calls.
///
/// If the disk refuses, memory takes the change all the same (the token is good, and losing a rotated refresh token would end the
/// session); the change is kept and retried, with the next change and every few seconds. A later change replaces a waiting one of
/// the same record: however long the disk is full, there are never more of them than records.
package final class CacheWriter: Sendable {
    /// A job that waits for its turn at the disk.
    private enum Job: Sendable {
        /// Changes the draft; returns what to do after the disk has been tried. A change that reads more than a draft has is alone:
        /// it shares no transaction.
        case change(isAlone: Bool, @Sendable (inout PendingChanges) -> Ending)
        /// Other work, during which nothing of the person may be written.
        case aside(Work)

        var change: (@Sendable (inout PendingChanges) -> Ending)? {
            if case .change(_, let change) = self { change } else { nil }
        }

        var isShared: Bool { if case .change(let isAlone, _) = self { !isAlone } else { false } }
    }

    private typealias Ending = @Sendable (_ isPersisted: Bool) -> Void
    private typealias Work = @Sendable (_ isFlushed: Bool) async -> Void

    private struct State {
        /// The jobs that arrived while a person's changes are being written. There is an entry, maybe an empty one, for each such
        /// person.
        var waiting: [Partition: [Job]] = [:]
        /// Changes that the disk lacks: the last one of each record.
        var backlog: [Partition: CacheChange] = [:]
        /// Partitions whose changes the disk has refused: memory has them all the same.
        var refused: Set<Partition> = []
        var retry: Task<Void, Never>?

        /// - Returns: the jobs of the next transaction; an empty array ends the person's turn.
        mutating func next(of partition: Partition) -> [Job] {
            guard var all = waiting.removeValue(forKey: partition), !all.isEmpty else { return [] }
            let jobs = Array(
                all.prefix(max(1, all.prefix(CacheWriter.maximumTogether).prefix(while: \.isShared).count)))
            all.removeFirst(jobs.count)
            waiting[partition] = all
            return jobs
        }
    }

    /// The number of changes in one transaction: a transaction of many rows keeps other people's changes from the disk.
    private static let maximumTogether = 16

    private let vault: any RecordVault
    private let index: CacheIndex
    private let clock: any BrokerClock
    private let retryInterval: @Sendable () -> Duration
    private let log: Logger
    private let state = Mutex(State())

    package init(
        vault: any RecordVault, index: CacheIndex, clock: any BrokerClock,
        retryInterval: @escaping @Sendable () -> Duration, log: Logger
    ) {
        self.vault = vault
        self.index = index
        self.clock = clock
        self.retryInterval = retryInterval
        self.log = log
    }

    /// Decides a change in the person's write queue, and writes it.
    ///
    /// - Parameter decide: returns the change, based on the state after all earlier changes, and the caller's result.
    /// - Returns: that result, and whether the disk has the change.
    /// - Throws: if nothing was changed.
    package func write<Answer: Sendable>(
        in partition: Partition,
        _ decide: @escaping @Sendable (CacheIndex) throws(VaultError) -> (change: CacheChange, answer: Answer)
    ) async throws(VaultError) -> (answer: Answer, isPersisted: Bool) {
        try await change(in: partition, isAlone: true) { draft throws(VaultError) in try decide(draft.index) }
    }

    /// ``write(in:_:)``, together with other changes of the person that wait for the disk.
    package func writeTogether<Answer: Sendable>(
        in partition: Partition,
        _ decide: @escaping @Sendable (PendingChanges) throws(VaultError) -> (change: CacheChange, answer: Answer)
    ) async throws(VaultError) -> (answer: Answer, isPersisted: Bool) {
        try await change(in: partition, isAlone: false, decide)
    }

    private func change<Answer: Sendable>(
        in partition: Partition, isAlone: Bool,
        _ decide: @escaping @Sendable (PendingChanges) throws(VaultError) -> (change: CacheChange, answer: Answer)
    ) async throws(VaultError) -> (answer: Answer, isPersisted: Bool) {
        let outcome = Promise<Result<(answer: Answer, isPersisted: Bool), VaultError>>()
        add(
            .change(isAlone: isAlone) { draft in
                do throws(VaultError) {
                    let (change, answer) = try decide(draft)
                    try draft.add(change)
                    return { outcome.fulfil(.success((answer, $0))) }
                } catch {
                    outcome.fulfil(.failure(error))
                    return { _ in }
                }
            }, in: partition)
        return try await outcome.value.get()
    }

    /// Whether the disk has a record that is in memory. Quick: part of the hot path.
    package func hasWritten(_ record: SealedRecord) -> Bool {
        state.withLock { state in
            state.refused.isEmpty || !state.refused.contains { state.backlog[$0]?.puts(record) ?? false }
        }
    }

    /// Waits for jobs in progress, and retries refused writes once.
    ///
    /// - Returns: whether the disk has all changes.
    package func flush() async -> Bool {
        var isDone = true
        for partition in state.withLock({ Set($0.waiting.keys).union($0.backlog.keys) }) {
            isDone = await flush(partition) && isDone
        }
        return isDone
    }

    /// ``flush()`` for one person.
    package func flush(_ partition: Partition) async -> Bool {
        await aside(in: partition) { $0 }
    }

    /// Runs work after all earlier changes of the person have been tried on disk, and before any later one is decided.
    ///
    /// - Parameter work: receives whether the disk has everything that memory has of the person. It must not write to the cache.
    package func aside<Value: Sendable>(
        in partition: Partition, _ work: @escaping @Sendable (_ isFlushed: Bool) async -> Value
    ) async -> Value {
        let outcome = Promise<Value>()
        add(.aside { outcome.fulfil(await work($0)) }, in: partition)
        return await outcome.value
    }

    private func add(_ job: Job, in partition: Partition) {
        let isFirst = state.withLock { state in
            defer { state.waiting[partition, default: []].append(job) }
            return state.waiting[partition] == nil
        }
        if isFirst { Task { await work(in: partition) } }
    }

    private func work(in partition: Partition) async {
        while true {
            let jobs = state.withLock { $0.next(of: partition) }
            if jobs.isEmpty { return }
            if case .aside(let work) = jobs.first {
                let isFlushed = await writeBacklog(of: partition)
                if isFlushed { index.didFlush(of: partition) } else { didRefuse(partition) }
                await work(isFlushed)
                continue
            }
            var draft = PendingChanges(in: partition, of: index)
            let endings = jobs.compactMap { $0.change?(&draft) }
            let change = draft.change
            if !change.isEmpty {
                state.withLock { $0.backlog[partition, default: CacheChange(in: partition)].add(change.rows) }
            }
            let isPersisted = await writeBacklog(of: partition)
            index.take(draft.affected, in: partition, isOnDisk: isPersisted)
            if !isPersisted { didRefuse(partition) }
            for end in endings { end(isPersisted) }
        }
    }

    /// - Returns: whether the disk has all changes of the person.
    private func writeBacklog(of partition: Partition) async -> Bool {
        guard let change = state.withLock({ $0.backlog[partition] }) else { return true }
        do throws(VaultError) {
            try await vault.commit(change.onDisk)
            state.withLock { ($0.backlog[partition], _) = (nil, $0.refused.remove(partition)) }
            return true
        } catch .erased {
            log.notice("a change is not kept: the records of the user were removed meanwhile")
            state.withLock { ($0.backlog[partition], _) = (nil, $0.refused.remove(partition)) }
            return false
        } catch {
            log.error(
                "the vault could not be written; the change is kept in memory and will be tried again",
                metadata: ["cause": "\(error)"])
            state.withLock { _ = $0.refused.insert(partition) }
            return false
        }
    }

    /// Tries again later. Nothing opens records of an erased partition any more, so memory does not have them either.
    private func didRefuse(_ partition: Partition) {
        if state.withLock({ $0.backlog[partition] != nil }) { return scheduleRetry() }
        index.forget(partition)
        index.didFlush(of: partition)
    }

    private func scheduleRetry() {
        state.withLock { state in
            guard state.retry == nil else { return }
            state.retry = Task {
                repeat {
                    do { try await clock.sleep(for: retryInterval()) } catch { return }
                    _ = await flush()
                } while !endRetrying()
                log.notice("the vault is written again")
            }
        }
    }

    /// - Returns: false if a change was refused meanwhile and its writer left it to the retry in progress.
    private func endRetrying() -> Bool {
        state.withLock { state in
            guard state.refused.isEmpty else { return false }
            state.retry = nil
            return true
        }
    }

    package func stopRetrying() { state.withLock { $0.retry }?.cancel() }
}

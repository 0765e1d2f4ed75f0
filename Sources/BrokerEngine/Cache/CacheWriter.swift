import BrokerModel
import BrokerValues
import Logging
import Synchronization

/// The one place that changes the cache: disk first, then memory, of one person one ``CacheChange`` after the other. Nobody waits
/// behind another person's: the vault lets users take turns. Of what comes while the disk is busy much becomes one transaction
/// (``PendingChanges``): a thousand refreshes are not a thousand times fsync.
///
/// When the disk refuses, memory takes the change all the same (the token is good, and losing a rotated refresh token
/// would end the session); what was refused waits and is tried again, with the next change and every few seconds. Of what
/// waits, a later change takes the place of an earlier one of the same record: however long the disk is full, no more waits
/// than there are records.
package final class CacheWriter: Sendable {
    /// What waits for its turn at the disk.
    private enum Job: Sendable {
        /// Changes the draft; says what is to be done when the disk has been tried. One that looks at more than a draft has is alone:
        /// it shares no transaction.
        case change(isAlone: Bool, @Sendable (inout PendingChanges) -> Ending)
        /// Something else, for which nothing of the person may be written meanwhile.
        case aside(Work)

        var change: (@Sendable (inout PendingChanges) -> Ending)? {
            if case .change(_, let change) = self { change } else { nil }
        }

        var isShared: Bool { if case .change(let isAlone, _) = self { !isAlone } else { false } }
    }

    private typealias Ending = @Sendable (_ isPersisted: Bool) -> Void
    private typealias Work = @Sendable (_ isFlushed: Bool) async -> Void

    private struct State {
        /// Of each person whose changes are being written, those that came meanwhile.
        var waiting: [Partition: [Job]] = [:]
        /// What the disk lacks: of each record the last word.
        var backlog: [Partition: CacheChange] = [:]
        /// Whose changes the disk has refused: memory has them all the same.
        var refused: Set<Partition> = []
        var retry: Task<Void, Never>?

        /// - Returns: what becomes the next transaction; nothing ends the person's turn.
        mutating func next(of partition: Partition) -> [Job] {
            guard var all = waiting.removeValue(forKey: partition), !all.isEmpty else { return [] }
            let jobs = Array(all.prefix(max(1, all.prefix(CacheWriter.mostTogether).prefix(while: \.isShared).count)))
            all.removeFirst(jobs.count)
            waiting[partition] = all
            return jobs
        }
    }

    /// A transaction of many rows keeps others from the disk.
    private static let mostTogether = 16

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
        try await change(in: partition, isAlone: true) { draft throws(VaultError) in try decide(draft.index) }
    }

    /// As ``write(in:_:)``, together with others of the person that wait for the disk.
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

    /// Waits for what is under way, and tries once more to write what was refused. - Returns: whether nothing is left.
    package func flush() async -> Bool {
        var isDone = true
        for partition in state.withLock({ Set($0.waiting.keys).union($0.backlog.keys) }) {
            isDone = await flush(partition) && isDone
        }
        return isDone
    }

    /// As ``flush()``, for one person.
    package func flush(_ partition: Partition) async -> Bool {
        await aside(in: partition) { $0 }
    }

    /// Does something when all earlier changes of the person have been tried to be written, and before any later one is decided.
    ///
    /// - Parameter work: is told whether the disk has everything that memory has of the person. It must not write to the cache.
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
                if isFlushed { index.didFlush(of: partition) } else { scheduleRetry() }
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
            index.take(draft.around, in: partition, isOnDisk: isPersisted)
            if !isPersisted { scheduleRetry() }
            for end in endings { end(isPersisted) }
        }
    }

    /// - Returns: whether nothing is left.
    private func writeBacklog(of partition: Partition) async -> Bool {
        guard let change = state.withLock({ $0.backlog[partition] }) else { return true }
        do throws(VaultError) {
            try await vault.commit(change.onDisk)
            state.withLock { ($0.backlog[partition], _) = (nil, $0.refused.remove(partition)) }
            return true
        } catch {
            log.error(
                "the vault could not be written; the change is kept in memory and will be tried again",
                metadata: ["cause": "\(error)"])
            state.withLock { _ = $0.refused.insert(partition) }
            return false
        }
    }

    private func scheduleRetry() {
        state.withLock { state in
            guard state.retry == nil else { return }
            state.retry = Task {
                repeat {
                    do { try await clock.sleep(for: .seconds(settings().writeRetryInterval)) } catch { return }
                    _ = await flush()
                } while !endRetrying()
                log.notice("the vault is written again")
            }
        }
    }

    /// - Returns: false where a change was refused meanwhile, whose writer left it to the retry under way.
    private func endRetrying() -> Bool {
        state.withLock { state in
            guard state.refused.isEmpty else { return false }
            state.retry = nil
            return true
        }
    }

    /// For tests: how many of a person's changes wait for their turn.
    package func waiting(of partition: Partition) -> Int { state.withLock { $0.waiting[partition]?.count ?? 0 } }

    package func stopRetrying() { state.withLock { $0.retry }?.cancel() }
}

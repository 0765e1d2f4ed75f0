import BrokerModel
import Dispatch
import Synchronization

/// Runs jobs one after another, taking turns between partitions, so that a busy partition delays the others by one job only.
///
/// For calls that wait for the disk, which must not block the few threads that Swift's tasks share. While it has work, Dispatch
/// gives a serial queue an additional thread; that thread takes no signals but those of its own faults and SIGPROF.
final class SerialQueue: Sendable {
    typealias Job = @Sendable () -> Void

    fileprivate struct State {
        var isStopped = false
        var jobsDone = 0
        var isWatching = false
        /// Waiting jobs, in the order of their arrival.
        var waiting: [Partition: [Job].SubSequence] = [:]
        /// Partitions with waiting jobs; the first is next.
        var turns: [Partition].SubSequence = []
    }

    private let queue = DispatchQueue(label: "vault")
    private let idleDelay: DispatchTimeInterval
    private let onIdle: Job
    private let state = Mutex(State())

    /// - Parameter idleDelay: if no job ends for this time (at most twice as long), `onIdle` runs on the queue, once.
    init(idleDelay: Duration, onIdle: @escaping Job) {
        let (seconds, attoseconds) = idleDelay.components
        self.idleDelay = .nanoseconds(Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000))
        self.onIdle = onIdle
    }

    /// - Returns: false after ``stop(afterwards:)``; the job does not run then.
    @discardableResult
    func run(of partition: Partition, _ job: @escaping Job) -> Bool {
        // Enqueued under the lock: an accepted job runs before the last one of ``stop(afterwards:)``.
        state.withLock { state in
            guard !state.isStopped else { return false }
            state.add(job, of: partition)
            queue.async {
                self.state.withLock { $0.next() }?()
                self.state.withLock { $0.jobsDone += 1 }
                self.watch()
            }
            return true
        }
    }

    /// Rejects further jobs; accepted ones still run.
    ///
    /// - Parameter last: runs after them.
    /// - Returns: false if it was stopped before; `last` does not run then.
    @discardableResult
    func stop(afterwards last: @escaping Job = {}) -> Bool {
        state.withLock { state in
            guard !state.isStopped else { return false }
            state.isStopped = true
            queue.async(execute: last)
            return true
        }
    }

    /// One timer at a time, which does not keep the queue's owner alive.
    private func watch() {
        let jobsDone: Int? = state.withLock { state in
            guard !state.isStopped, !state.isWatching else { return nil }
            state.isWatching = true
            return state.jobsDone
        }
        guard let jobsDone else { return }
        queue.asyncAfter(deadline: .now() + idleDelay) { [weak self] in self?.checkIdle(since: jobsDone) }
    }

    private func checkIdle(since jobsDone: Int) {
        let (isStopped, isIdle) = state.withLock { state in
            state.isWatching = false
            return (state.isStopped, state.jobsDone == jobsDone)
        }
        if isStopped { return }
        if isIdle { onIdle() } else { watch() }
    }
}

extension SerialQueue.State {
    fileprivate mutating func add(_ job: @escaping SerialQueue.Job, of partition: Partition) {
        if waiting[partition] == nil { turns.append(partition) }
        waiting[partition, default: []].append(job)
    }

    fileprivate mutating func next() -> SerialQueue.Job? {
        guard let partition = turns.popFirst(), let job = waiting[partition]?.popFirst() else { return nil }
        if waiting[partition]?.isEmpty == true { waiting[partition] = nil } else { turns.append(partition) }
        return job
    }
}

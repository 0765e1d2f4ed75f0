import BrokerModel
import Dispatch
import Synchronization

/// Runs jobs one after another, of each partition one in turn, so that who asks for much holds up others by one job only.
///
/// For calls that wait for the disk, which must not hold up the few threads that Swift's tasks share. Dispatch gives a serial
/// queue a thread beyond those while it has work; that thread takes no signals but those of its own faults and SIGPROF.
final class SerialQueue: Sendable {
    typealias Job = @Sendable () -> Void

    fileprivate struct State {
        var isStopped = false
        var jobsDone = 0
        var isWatching = false
        /// Jobs that wait, in the order in which they came.
        var waiting: [Partition: [Job].SubSequence] = [:]
        /// Who has jobs that wait; the first is next.
        var turns: [Partition].SubSequence = []
    }

    private let queue = DispatchQueue(label: "vault")
    private let idleDelay: DispatchTimeInterval
    private let onIdle: Job
    private let state = Mutex(State())

    /// - Parameter idleDelay: when no job has ended for as long (at most twice as long), `onIdle` runs on the queue, once.
    init(idleDelay: Duration, onIdle: @escaping Job) {
        let (seconds, attoseconds) = idleDelay.components
        self.idleDelay = .nanoseconds(Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000))
        self.onIdle = onIdle
    }

    /// - Returns: false after ``stop(afterwards:)``; the job is not run then.
    @discardableResult
    func run(of partition: Partition, _ job: @escaping Job) -> Bool {
        // Put into the queue under the lock: who was accepted comes before ``stop(afterwards:)``.
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

    /// No job is taken any more; those that were accepted run.
    ///
    /// - Parameter last: runs after them.
    /// - Returns: false when it was stopped before; `last` is not run then.
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
        queue.asyncAfter(deadline: .now() + idleDelay) { [weak self] in self?.look(since: jobsDone) }
    }

    private func look(since jobsDone: Int) {
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

import Dispatch
import Synchronization

/// Runs jobs one after another: for calls that wait for the disk, which must not hold up the few threads that Swift's tasks
/// share. Dispatch gives a serial queue a thread beyond those while it has work; that thread takes no signals but those of
/// its own faults and SIGPROF.
final class SerialQueue: Sendable {
    typealias Job = @Sendable () -> Void

    private struct State {
        var isStopped = false
        var jobsDone = 0
        var isWatching = false
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

    /// - Returns: false after ``stop()``; the job is not run then.
    @discardableResult
    func run(_ job: @escaping Job) -> Bool {
        // Put into the queue under the lock: who was accepted comes before ``stop()``.
        state.withLock { state in
            guard !state.isStopped else { return false }
            queue.async {
                job()
                self.state.withLock { $0.jobsDone += 1 }
                self.watch()
            }
            return true
        }
    }

    /// No job is taken any more; those that were accepted run.
    func stop() { state.withLock { $0.isStopped = true } }

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

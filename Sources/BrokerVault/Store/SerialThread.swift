import BrokerThreads
import Glibc

/// A thread that runs jobs one after another: for calls that wait for the disk, which must not hold up the few threads
/// that Swift's tasks share.
///
/// `@unchecked Sendable`: `jobs` and `isStopped` are touched with `mutex` held only; the rest never changes.
final class SerialThread: @unchecked Sendable {
    typealias Job = @Sendable () -> Void

    private enum Next {
        case job(Job)
        case idle
        case end
    }

    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let wakeUp = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let idleDelay: Duration
    private let onIdle: Job
    private var jobs: [Job] = []
    private var isStopped = false

    /// - Parameters:
    ///   - idleDelay: how long after the last job `onIdle` runs, once.
    /// - Returns: nil if the system gives no thread.
    init?(idleDelay: Duration, onIdle: @escaping Job) {
        self.idleDelay = idleDelay
        self.onIdle = onIdle
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(wakeUp, &attributes)
        pthread_condattr_destroy(&attributes)

        guard DetachedThread.start({ self.loop() }) == 0 else { return nil }
    }

    deinit {
        pthread_cond_destroy(wakeUp)
        pthread_mutex_destroy(mutex)
        wakeUp.deallocate()
        mutex.deallocate()
    }

    /// - Returns: false after ``stop()``; the job is not run then.
    @discardableResult
    func run(_ job: @escaping Job) -> Bool {
        locked {
            guard !isStopped else { return false }
            jobs.append(job)
            pthread_cond_signal(wakeUp)
            return true
        }
    }

    /// Ends the thread when the jobs it already has are done.
    func stop() {
        locked {
            isStopped = true
            pthread_cond_signal(wakeUp)
        }
    }

    private func loop() {
        var hasWorked = false
        while true {
            switch locked({ next(waitingBriefly: hasWorked) }) {
            case .job(let job):
                job()
                hasWorked = true
            case .idle:
                onIdle()
                hasWorked = false
            case .end: return
            }
        }
    }

    /// With `mutex` held.
    private func next(waitingBriefly: Bool) -> Next {
        var deadline = timespec()
        clock_gettime(CLOCK_MONOTONIC, &deadline)
        deadline.tv_sec += Int(idleDelay.components.seconds)
        deadline.tv_nsec += Int(idleDelay.components.attoseconds / 1_000_000_000)
        if deadline.tv_nsec >= 1_000_000_000 {
            deadline.tv_sec += 1
            deadline.tv_nsec -= 1_000_000_000
        }
        while true {
            if !jobs.isEmpty { return .job(jobs.removeFirst()) }
            if isStopped { return .end }
            if !waitingBriefly {
                pthread_cond_wait(wakeUp, mutex)
            } else if pthread_cond_timedwait(wakeUp, mutex, &deadline) == ETIMEDOUT {
                return .idle
            }
        }
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }
}

import BrokerSystem
import CBrokerLinux
import Glibc
import Synchronization

/// One thread that waits for many sockets, and handles those that are ready (epoll(7)).
///
/// It reads the writer of the bytes, which NIO does not (decision 29).
///
/// `@unchecked Sendable`: `sources`, `timers`, `alarm`, `later` and `now` are accessed on its thread only, which every method
/// that does so ensures; the rest is constant or has a lock.
package final class Reactor: @unchecked Sendable {
    private let events: Int32
    private let wakeup: Int32
    private let thread = Atomic<UInt>(0)
    private let mailbox = Mutex(Mailbox())

    private var sources: [UInt64: any ReactorSource] = [:]
    private var timers = ReactorTimers()
    private var alarm = ReactorAlarm()
    /// Actions to run in addition to the events, in this order.
    private var later: [() -> Void] = []
    /// The actions now being run, in reverse order.
    private var turn: [() -> Void] = []
    private var lastToken = Token.alarm
    /// When the current events arrived.
    private(set) var now = MonotonicInstant.now
    /// For readers of sockets: each takes its bytes out before the next one reads.
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 << 10, alignment: 16)

    /// Tokens that belong to no source.
    private enum Token {
        static let wakeup: UInt64 = 0
        static let alarm: UInt64 = 1
    }

    private struct Mailbox {
        var jobs: [@Sendable () -> Void] = []
        var isStopping = false
        var whenStopped: [CheckedContinuation<Void, Never>] = []
        var hasStopped = false
    }

    /// - Throws: ``SocketError`` if the system has no descriptor or no thread to spare.
    package init() throws(SocketError) {
        events = broker_events_open()
        wakeup = broker_events_open_wakeup()
        guard events >= 0 else { throw .system(doing: "wait for sockets", code: -events) }
        guard wakeup >= 0 else { throw .system(doing: "wait for sockets", code: -wakeup) }
        guard alarm.descriptor >= 0 else { throw .system(doing: "wait for sockets", code: -alarm.descriptor) }
        var code = -broker_events_watch(events, wakeup, Token.wakeup, UInt32(BROKER_INPUT))
        if code == 0 { code = -broker_events_watch(events, alarm.descriptor, Token.alarm, UInt32(BROKER_INPUT)) }
        if code == 0 { code = DetachedThread.start { self.run() } }
        guard code == 0 else { throw .system(doing: "wait for sockets", code: code) }
    }

    deinit {
        if events >= 0 { close(events) }
        if wakeup >= 0 { close(wakeup) }
        buffer.deallocate()
    }

    // MARK: On any thread

    /// Whether this is its thread.
    package var isCurrent: Bool { thread.load(ordering: .relaxed) == pthread_self() }

    /// Runs the job on its thread, soon. Jobs of one thread keep their order.
    ///
    /// - Returns: false if the thread has ended: the job is dropped.
    @discardableResult
    package func execute(_ job: @escaping @Sendable () -> Void) -> Bool {
        let (isTaken, mustWake) = mailbox.withLock { mailbox in
            guard !mailbox.hasStopped else { return (false, false) }
            mailbox.jobs.append(job)
            // Otherwise it has been woken, and has not checked yet.
            return (true, mailbox.jobs.count == 1)
        }
        if mustWake { _ = broker_events_wake(wakeup) }
        return isTaken
    }

    /// Runs the work on its thread, and returns the result.
    package func perform<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { done in
            let isTaken = execute { done.resume(returning: work()) }
            precondition(isTaken, "the reactor has ended")
        }
    }

    /// Returns when its thread has ended. Descriptors still watched are forgotten, and stay open.
    package func stop() async {
        await withCheckedContinuation { stopped in
            let hasStopped = mailbox.withLock { mailbox in
                if !mailbox.hasStopped { mailbox.whenStopped.append(stopped) }
                return mailbox.hasStopped
            }
            guard !hasStopped else { return stopped.resume() }
            mailbox.withLock { $0.isStopping = true }
            _ = broker_events_wake(wakeup)
        }
    }

    // MARK: On its thread

    /// - Returns: the token that identifies the source from now on; `nil` if the system cannot watch one more.
    func watch(_ descriptor: Int32, for interest: ReactorInterest, _ source: any ReactorSource) -> UInt64? {
        assertCurrent()
        lastToken += 1
        guard broker_events_watch(events, descriptor, lastToken, interest.rawValue) == 0 else { return nil }
        sources[lastToken] = source
        return lastToken
    }

    func change(_ token: UInt64, _ descriptor: Int32, to interest: ReactorInterest) {
        assertCurrent()
        _ = broker_events_change(events, descriptor, token, interest.rawValue)
    }

    /// Call before the descriptor is closed: a program that is just being started may have a copy of it, for which the kernel
    /// would keep reporting events.
    func forget(_ token: UInt64, _ descriptor: Int32) {
        assertCurrent()
        _ = broker_events_forget(events, descriptor)
        sources[token] = nil
    }

    /// - Returns: the timer for ``cancel(_:)``.
    @discardableResult
    package func schedule(after delay: Duration, _ action: @escaping () -> Void) -> ReactorTimer {
        assertCurrent()
        return timers.add(at: MonotonicInstant.now + delay, action)
    }

    package func cancel(_ timer: ReactorTimer?) {
        assertCurrent()
        if let timer { timers.cancel(timer) }
    }

    /// Runs the action after the current one and everything else that is ready now.
    func soon(_ action: @escaping () -> Void) {
        assertCurrent()
        later.append(action)
    }

    private func assertCurrent() {
        precondition(isCurrent, "a reactor's sockets belong to its thread")
    }

    private func run() {
        thread.store(pthread_self(), ordering: .relaxed)
        var found = [broker_event](repeating: broker_event(), count: 64)
        var isStopping = false
        while !isStopping {
            alarm.ring(by: timers.earliest)
            let count = broker_events_wait(events, &found, Int32(found.count), hasWork ? 1 : 0)
            now = .now
            var isWoken = false
            for number in 0..<Int(max(count, 0)) {
                let event = found[number]
                switch event.token {
                case Token.wakeup: isWoken = true
                case Token.alarm: alarm.stop()
                default: sources[event.token]?.ready(ReactorReadiness(rawValue: event.what))
                }
            }
            while let action = timers.takeDue(at: now) { action() }
            if isWoken { isStopping = takeJobs() }
            doWhatWaits()
        }
        while hasWork { doWhatWaits() }
        end()
    }

    /// - Returns: whether to stop.
    private func takeJobs() -> Bool {
        _ = broker_events_sleep_again(wakeup)
        let (jobs, isStopping) = mailbox.withLock { mailbox in
            defer { mailbox.jobs = [] }
            return (mailbox.jobs, mailbox.isStopping)
        }
        for job in jobs { later.append(job) }
        return isStopping
    }

    private var hasWork: Bool { !turn.isEmpty || !later.isEmpty }

    /// Runs the actions present now, for at least as long as the events took: neither waits for all of the other.
    private func doWhatWaits() {
        guard hasWork else { return }
        if turn.isEmpty { (turn, later) = (later.reversed(), []) }
        let begin = MonotonicInstant.now
        let end = begin + max(begin - now, .microseconds(100))
        while let action = turn.popLast() {
            action()
            if MonotonicInstant.now >= end { return }
        }
    }

    private func end() {
        let (waiting, left) = mailbox.withLock { mailbox in
            defer { (mailbox.whenStopped, mailbox.jobs) = ([], []) }
            mailbox.hasStopped = true
            return (mailbox.whenStopped, mailbox.jobs)
        }
        for job in left { job() }
        while hasWork { doWhatWaits() }
        for source in sources.values { source.letGo() }
        sources = [:]
        timers = ReactorTimers()
        // Another thread may get its id.
        thread.store(0, ordering: .relaxed)
        for stopped in waiting { stopped.resume() }
    }
}

/// An object watched by a reactor.
protocol ReactorSource: AnyObject {
    func ready(_ what: ReactorReadiness)
    /// The reactor has ended: no more events follow.
    func letGo()
}

extension ReactorSource {
    func letGo() {}
}

/// The events to wait for. A hangup of the other end is always reported.
struct ReactorInterest: OptionSet {
    let rawValue: UInt32
    static let input = ReactorInterest(rawValue: UInt32(BROKER_INPUT))
    static let output = ReactorInterest(rawValue: UInt32(BROKER_OUTPUT))
}

struct ReactorReadiness: OptionSet {
    let rawValue: UInt32
    static let input = ReactorReadiness(rawValue: UInt32(BROKER_INPUT))
    static let output = ReactorReadiness(rawValue: UInt32(BROKER_OUTPUT))
    static let gone = ReactorReadiness(rawValue: UInt32(BROKER_GONE))
}

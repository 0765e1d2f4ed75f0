import Synchronization

/// Counts the work that needs the vault's keys, so that the keys can be dropped when nothing needs them any more.
///
/// Requests enter, and are rejected while the broker is locked. Their follow-up work (a refresh continues when its caller has
/// gone) is counted, too: a provider may already have replaced the refresh token, and the response must still be sealed.
package final class LockGate: Sendable {
    /// Three flags, the amount of work, and in the upper half a counter of begun and finished work and of closings, which wraps
    /// around. One word, because every request uses it, on each reactor's thread.
    private enum Word {
        static let isOpen: UInt64 = 1
        /// Idle time counts: each admitted request records its time.
        static let countsIdleTime: UInt64 = 2
        /// A task waits for the end of the work.
        static let isAwaited: UInt64 = 4
        static let one: UInt64 = 8
        static let use: UInt64 = 1 << 32

        static func isWorking(_ word: UInt64) -> Bool { word % use >= one }
    }

    private struct State {
        /// When the last request was admitted, if idle time counts.
        var lastUse = Duration.zero
        /// How long the gate stays open without use; `nil` for no limit.
        var idleLimit: Duration?
        var waiting: [CheckedContinuation<Void, Never>] = []
        /// Called for each request after that time.
        var whenIdle: (@Sendable () -> Void)?
    }

    private let clock: any BrokerClock
    private let word = Atomic<UInt64>(0)
    private let state = Mutex(State())

    /// The gate is closed until ``open()``.
    package init(clock: any BrokerClock) { self.clock = clock }

    /// Quick: part of the hot path. If it returns true, call ``leave()`` at the end.
    package func enter() -> Bool {
        if word.load(ordering: .acquiring) & Word.countsIdleTime != 0 { return enterInTime() }
        return enterIfOpen()
    }

    /// A rejected request is never counted, so the end of the work does not wait for it.
    private func enterIfOpen() -> Bool {
        var before = word.load(ordering: .acquiring)
        while before & Word.isOpen != 0 {
            let isIn: Bool
            (isIn, before) = word.weakCompareExchange(
                expected: before, desired: before &+ Word.one &+ Word.use, ordering: .acquiringAndReleasing)
            if isIn { return true }
        }
        return false
    }

    /// One after the other: a late request must not count as work that keeps the gate open for the next one.
    private func enterInTime() -> Bool {
        let (isIn, whenIdle) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
            let now = clock.uptime
            let isWorking = Word.isWorking(word.load(ordering: .acquiring))
            guard isOpen, isWorking || state.idleLimit.map({ now - state.lastUse < $0 }) ?? true else {
                return (false, isOpen ? state.whenIdle : nil)
            }
            state.lastUse = now
            return (enterIfOpen(), nil)
        }
        // The clock continued during a suspend, and the timer has not fired yet.
        whenIdle?()
        return isIn
    }

    /// Whether the broker is not locked, and not about to be.
    package var isOpen: Bool { word.load(ordering: .acquiring) & Word.isOpen != 0 }

    /// For follow-up work of counted work: always admitted.
    package func join() {
        word.wrappingAdd(Word.one + Word.use, ordering: .acquiringAndReleasing)
    }

    package func leave() {
        let (before, now) = word.wrappingAdd(Word.use - Word.one, ordering: .acquiringAndReleasing)
        precondition(Word.isWorking(before), "nobody was in")
        if now & Word.isAwaited != 0, !Word.isWorking(now) { notifyWaiting() }
    }

    private func notifyWaiting() {
        let waiting = state.withLock { state in
            // Work that began since then notifies them when it ends.
            guard !Word.isWorking(word.load(ordering: .acquiring)) else { return [CheckedContinuation<Void, Never>]() }
            word.bitwiseAnd(~Word.isAwaited, ordering: .acquiringAndReleasing)
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Takes effect immediately.
    package func limitIdleTime(to limit: Duration?) {
        let now = clock.uptime
        state.withLock { state in
            // Admissions have not been timed so far.
            if state.idleLimit == nil { state.lastUse = now }
            state.idleLimit = limit
            if limit == nil {
                word.bitwiseAnd(~Word.countsIdleTime, ordering: .acquiringAndReleasing)
            } else {
                word.bitwiseOr(Word.countsIdleTime, ordering: .acquiringAndReleasing)
            }
        }
    }

    package func whenIdle(_ act: @escaping @Sendable () -> Void) { state.withLock { $0.whenIdle = act } }

    /// Whether there were no requests for that time, and no work is under way.
    package func isIdle(at now: Duration, for limit: Duration) -> Bool {
        state.withLock { state in
            let word = word.load(ordering: .acquiring)
            return word & Word.isOpen != 0 && !Word.isWorking(word) && now - state.lastUse >= limit
        }
    }

    /// Increases with every event that may need memory, or release it.
    package var uses: UInt64 { word.load(ordering: .relaxed) / Word.use }

    package var lastUse: Duration { state.withLock { $0.lastUse } }

    /// Rejects further requests. Returns when the last has left.
    package func shut() async {
        word.wrappingAdd(Word.use, ordering: .relaxed)
        word.bitwiseAnd(~Word.isOpen, ordering: .acquiringAndReleasing)
        await withCheckedContinuation { continuation in
            state.withLock { $0.waiting.append(continuation) }
            // Work that leaves from now on notifies, and work that left before is no longer counted.
            if !Word.isWorking(word.bitwiseOr(Word.isAwaited, ordering: .acquiringAndReleasing).newValue) {
                notifyWaiting()
            }
        }
    }

    package func open() {
        let now = clock.uptime
        state.withLock { $0.lastUse = now }
        word.bitwiseOr(Word.isOpen, ordering: .acquiringAndReleasing)
    }
}

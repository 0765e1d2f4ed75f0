import Synchronization

/// Counts the work that needs the vault's keys, so that they go when nothing needs them any more.
///
/// Requests enter, and find it shut while the broker is locked. What they leave behind (a refresh goes on when its caller
/// has gone) is counted, too: a provider may already have replaced the refresh token, and the answer must still be sealed.
package final class LockGate: Sendable {
    /// Three flags, how much work there is, and in the upper half how often work was begun or was over, or the gate shut, which begins
    /// anew at its end. One word, because every request comes by here, on each reactor's thread.
    private enum Word {
        static let isOpen: UInt64 = 1
        /// Idle time counts: who is let in says when.
        static let countsIdleTime: UInt64 = 2
        /// Somebody waits for the end of the work.
        static let isAwaited: UInt64 = 4
        static let one: UInt64 = 8
        static let use: UInt64 = 1 << 32

        static func isWorking(_ word: UInt64) -> Bool { word % use >= one }
    }

    private struct State {
        /// When somebody was last let in, where idle time counts.
        var lastUse = Duration.zero
        /// How long the gate stays open without use; nil for ever.
        var idleLimit: Duration?
        var waiting: [CheckedContinuation<Void, Never>] = []
        /// Called for whoever comes after that time.
        var whenIdle: (@Sendable () -> Void)?
    }

    private let clock: any BrokerClock
    private let word = Atomic<UInt64>(0)
    private let state = Mutex(State())

    /// It is shut until ``open()``.
    package init(clock: any BrokerClock) { self.clock = clock }

    /// Quick: part of the hot path. Who was let in ends with ``leave()``.
    package func enter() -> Bool {
        if word.load(ordering: .acquiring) & Word.countsIdleTime != 0 { return enterInTime() }
        return enterOpen()
    }

    /// Whoever finds it shut is counted at no moment: nobody who waits for the end of the work waits for them.
    private func enterOpen() -> Bool {
        var before = word.load(ordering: .acquiring)
        while before & Word.isOpen != 0 {
            let isIn: Bool
            (isIn, before) = word.weakCompareExchange(
                expected: before, desired: before &+ Word.one &+ Word.use, ordering: .acquiringAndReleasing)
            if isIn { return true }
        }
        return false
    }

    /// One after the other: who comes too late is no work that would keep the gate open for the next.
    private func enterInTime() -> Bool {
        let (isIn, whenIdle) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
            let now = clock.uptime
            let isWorking = Word.isWorking(word.load(ordering: .acquiring))
            guard isOpen, isWorking || state.idleLimit.map({ now - state.lastUse < $0 }) ?? true else {
                return (false, isOpen ? state.whenIdle : nil)
            }
            state.lastUse = now
            return (enterOpen(), nil)
        }
        // The clock went on during a suspend, and the timer did not fire yet.
        whenIdle?()
        return isIn
    }

    /// Whether the broker is not locked, and not about to be.
    package var isOpen: Bool { word.load(ordering: .acquiring) & Word.isOpen != 0 }

    /// For what counted work leaves behind: it is let in at any time.
    package func join() {
        word.wrappingAdd(Word.one + Word.use, ordering: .acquiringAndReleasing)
    }

    package func leave() {
        let (before, now) = word.wrappingAdd(Word.use - Word.one, ordering: .acquiringAndReleasing)
        precondition(Word.isWorking(before), "nobody was in")
        if now & Word.isAwaited != 0, !Word.isWorking(now) { tellWaiting() }
    }

    private func tellWaiting() {
        let waiting = state.withLock { state in
            // Who began since then tells when that is over.
            guard !Word.isWorking(word.load(ordering: .acquiring)) else { return [CheckedContinuation<Void, Never>]() }
            word.bitwiseAnd(~Word.isAwaited, ordering: .acquiringAndReleasing)
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// From now on.
    package func limitIdleTime(to limit: Duration?) {
        let now = clock.uptime
        state.withLock { state in
            // Until now nobody said when they came.
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

    /// Whether nothing was asked for so long, and nothing is under way.
    package func isIdle(at now: Duration, for limit: Duration) -> Bool {
        state.withLock { state in
            let word = word.load(ordering: .acquiring)
            return word & Word.isOpen != 0 && !Word.isWorking(word) && now - state.lastUse >= limit
        }
    }

    /// Grows with everything that may need memory, or no longer needs it.
    package var uses: UInt64 { word.load(ordering: .relaxed) / Word.use }

    package var lastUse: Duration { state.withLock { $0.lastUse } }

    /// Lets in nobody more. Returns when the last has left.
    package func shut() async {
        word.wrappingAdd(Word.use, ordering: .relaxed)
        word.bitwiseAnd(~Word.isOpen, ordering: .acquiringAndReleasing)
        await withCheckedContinuation { continuation in
            state.withLock { $0.waiting.append(continuation) }
            // Who leaves from now on tells, and who left before is not there any more.
            if !Word.isWorking(word.bitwiseOr(Word.isAwaited, ordering: .acquiringAndReleasing).newValue) {
                tellWaiting()
            }
        }
    }

    package func open() {
        let now = clock.uptime
        state.withLock { $0.lastUse = now }
        word.bitwiseOr(Word.isOpen, ordering: .acquiringAndReleasing)
    }
}

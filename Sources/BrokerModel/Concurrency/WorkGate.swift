import Synchronization

/// Counts the work that needs the vault's keys, so that they go when nothing needs them any more.
///
/// Requests enter, and find it shut while the broker is locked. What they leave behind (a refresh goes on when its caller
/// has gone) is counted, too: a provider may already have replaced the refresh token, and the answer must still be sealed.
package final class WorkGate: Sendable {
    private struct State {
        var isOpen = false
        var work = 0
        /// How often work was begun or was over, or the gate shut.
        var uses: UInt64 = 0
        /// When somebody was last let in, where idle time counts.
        var lastUse = Duration.zero
        /// How long the gate stays open without use; nil for ever.
        var idleLimit: Duration?
        var waiting: [CheckedContinuation<Void, Never>] = []
        /// Called for whoever comes after that time.
        var whenIdle: (@Sendable () -> Void)?
    }

    private let clock: any BrokerClock
    private let state = Mutex(State())

    /// It is shut until ``open()``.
    package init(clock: any BrokerClock) { self.clock = clock }

    /// Quick: part of the hot path. Who was let in ends with ``leave()``.
    package func enter() -> Bool {
        let (isIn, whenIdle) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
            guard state.isOpen else { return (false, nil) }
            if let limit = state.idleLimit {
                let now = clock.uptime
                guard state.work > 0 || now - state.lastUse < limit else { return (false, state.whenIdle) }
                state.lastUse = now
            }
            state.work += 1
            state.uses += 1
            return (true, nil)
        }
        // The clock went on during a suspend, and the timer did not fire yet.
        whenIdle?()
        return isIn
    }

    /// Whether the broker is not locked, and not about to be.
    package var isOpen: Bool { state.withLock(\.isOpen) }

    /// For what counted work leaves behind: it is let in at any time.
    package func join() {
        state.withLock { state in
            state.work += 1
            state.uses += 1
        }
    }

    package func leave() {
        let waiting = state.withLock { state in
            state.work -= 1
            state.uses += 1
            guard state.work == 0, !state.waiting.isEmpty else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// From now on.
    package func limitIdleTime(to limit: Duration?) { state.withLock { $0.idleLimit = limit } }

    package func whenIdle(_ act: @escaping @Sendable () -> Void) { state.withLock { $0.whenIdle = act } }

    /// Whether nothing was asked for so long, and nothing is under way.
    package func isIdle(at now: Duration, for limit: Duration) -> Bool {
        state.withLock { $0.isOpen && $0.work == 0 && now - $0.lastUse >= limit }
    }

    /// Grows with everything that may need memory, or no longer needs it.
    package var uses: UInt64 { state.withLock(\.uses) }

    package var lastUse: Duration { state.withLock { $0.lastUse } }

    /// Lets in nobody more. Returns when the last has left.
    package func shut() async {
        await withCheckedContinuation { continuation in
            let isEmpty = state.withLock { state in
                state.isOpen = false
                state.uses += 1
                if state.work > 0 { state.waiting.append(continuation) }
                return state.work == 0
            }
            if isEmpty { continuation.resume() }
        }
    }

    package func open() {
        let now = clock.uptime
        state.withLock { state in
            state.isOpen = true
            state.lastUse = now
        }
    }
}

import Synchronization

/// Counts the work that needs the vault's keys, so that they go when nothing needs them any more.
///
/// Requests enter, and find it shut while the broker is locked. What they leave behind (a refresh goes on when its caller
/// has gone) is counted, too: a provider may already have replaced the refresh token, and the answer must still be sealed.
package final class WorkGate: Sendable {
    private struct State {
        var isOpen = true
        var work = 0
        /// When work was last begun or done.
        var lastUse = Duration.zero
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Quick: part of the hot path. Who was let in ends with ``leave(at:)``.
    ///
    /// - Parameters:
    ///   - now: time since boot, when idle time counts; otherwise nil.
    ///   - limit: how long the gate stays open without use.
    func enter(at now: Duration?, idleLimit limit: Duration) -> Bool {
        state.withLock { state in
            guard state.isOpen else { return false }
            if let now {
                guard state.work > 0 || now - state.lastUse < limit else { return false }
                state.lastUse = now
            }
            state.work += 1
            return true
        }
    }

    /// For what counted work leaves behind: it is let in at any time.
    func join() { state.withLock { $0.work += 1 } }

    func leave() {
        let waiting = state.withLock { state in
            state.work -= 1
            guard state.work == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Whether nothing was asked for so long, and nothing is under way.
    func isIdle(at now: Duration, for limit: Duration) -> Bool {
        state.withLock { $0.isOpen && $0.work == 0 && now - $0.lastUse >= limit }
    }

    var lastUse: Duration { state.withLock { $0.lastUse } }

    /// Lets in nobody more. Returns when the last has left.
    func shut() async {
        await withCheckedContinuation { continuation in
            let isEmpty = state.withLock { state in
                state.isOpen = false
                if state.work > 0 { state.waiting.append(continuation) }
                return state.work == 0
            }
            if isEmpty { continuation.resume() }
        }
    }

    func open(at now: Duration) {
        state.withLock { state in
            state.isOpen = true
            state.lastUse = now
        }
    }
}

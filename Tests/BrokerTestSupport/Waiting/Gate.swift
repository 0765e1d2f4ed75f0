import Dispatch

/// Blocks callers while it is closed.
package final class Gate: Sendable {
    private struct State: Sendable {
        var isOpen: Bool
        var waiting: [@Sendable () -> Void] = []
    }

    private let state: Watched<State>

    package init(open: Bool = false) { state = Watched(State(isOpen: open)) }

    /// The number of blocked callers.
    package var waiting: Int { state.withLock { $0.waiting.count } }

    /// Waits until this many are blocked.
    package func waitForCallers(_ count: Int = 1) async throws { try await state.until { $0.waiting.count >= count } }

    package func close() { state.withLock { $0.isOpen = false } }

    package func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for resume in waiting { resume() }
    }

    package func wait() async {
        await withCheckedContinuation { continuation in enter { continuation.resume() } }
    }

    /// Blocks the calling thread: for scripts with a separate thread.
    package func block() {
        let semaphore = DispatchSemaphore(value: 0)
        enter { semaphore.signal() }
        semaphore.wait()
    }

    private func enter(_ resume: @escaping @Sendable () -> Void) {
        let isOpen = state.withLock { state in
            if !state.isOpen { state.waiting.append(resume) }
            return state.isOpen
        }
        if isOpen { resume() }
    }
}

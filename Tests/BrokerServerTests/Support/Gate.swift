import Synchronization

/// Holds up whoever comes until it is opened; then it stays open.
final class Gate: Sendable {
    private struct State {
        var isOpen: Bool
        var waiting: [CheckedContinuation<Void, Never>] = []
    }
    private let state: Mutex<State>

    init(open: Bool) { state = Mutex(State(isOpen: open)) }

    var waiting: Int { state.withLock { $0.waiting.count } }

    func close() { state.withLock { $0.isOpen = false } }

    func open() {
        let freed = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for one in freed { one.resume() }
    }

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}

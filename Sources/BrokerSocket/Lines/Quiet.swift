import Synchronization

/// Whether one connection can give way to another. Its own reactor says when it is quiet; whoever needs the place takes it at its
/// word, on any thread: from then on the connection is not served.
final class Quiet: Sendable {
    private enum State {
        case busy
        case quiet(since: MonotonicInstant)
        case gaveWay
    }
    private let state = Mutex(State.busy)

    /// Nothing has come or gone since, and nobody waits for anything.
    func begin(since: MonotonicInstant) {
        state.withLock { if case .gaveWay = $0 {} else { $0 = .quiet(since: since) } }
    }

    /// - Returns: false when the connection gave way.
    @discardableResult
    func end() -> Bool {
        state.withLock { state in
            if case .gaveWay = state { return false }
            state = .busy
            return true
        }
    }

    /// Nil while it is not quiet.
    var since: MonotonicInstant? { state.withLock { if case .quiet(let since) = $0 { since } else { nil } } }

    /// - Returns: whether it was quiet still, and has lost its place.
    func giveWay() -> Bool {
        state.withLock { state in
            guard case .quiet = state else { return false }
            state = .gaveWay
            return true
        }
    }
}

import BrokerModel
import BrokerValues

/// A clock that only a test moves; sleepers wake in the order of their deadlines.
package final class ManualClock: BrokerClock {
    private struct Sleeper: Sendable {
        var id: Int
        var deadline: Duration
        var continuation: CheckedContinuation<Bool, Never>
    }

    private struct State: Sendable {
        var wall: NumericDate
        var uptime: Duration = .zero
        var nextID = 0
        var sleepers: [Sleeper] = []
        var cancelled: Set<Int> = []
        var hasEnded = false
    }

    private let state: Watched<State>

    package init(now: NumericDate = 1_800_000_000) { state = Watched(State(wall: now)) }

    package var now: NumericDate { state.withLock { $0.wall } }
    package var uptime: Duration { state.withLock { $0.uptime } }
    /// The number of sleeping tasks.
    package var sleepers: Int { state.withLock { $0.sleepers.count } }

    /// Waits until this many tasks sleep: a test does this before it moves the clock.
    package func waitForSleepers(_ count: Int = 1) async throws {
        try await state.until { $0.sleepers.count >= count }
    }

    /// Waits until no task sleeps.
    package func waitForNoSleepers() async throws { try await state.until { $0.sleepers.isEmpty } }

    /// At the end of a test: wakes all tasks, so that none is left asleep. From then on sleeping throws.
    package func end() {
        let sleepers = state.withLock { state in
            defer { state.sleepers = [] }
            state.hasEnded = true
            return state.sleepers
        }
        sleepers.forEach { $0.continuation.resume(returning: false) }
    }

    /// Moves wall clock and uptime together, as time does.
    package func advance(bySeconds seconds: Int64) {
        let due = state.withLock { state in
            state.wall += seconds
            state.uptime += .seconds(seconds)
            let due = state.sleepers.filter { $0.deadline <= state.uptime }.sorted { $0.deadline < $1.deadline }
            state.sleepers.removeAll { $0.deadline <= state.uptime }
            return due
        }
        due.forEach { $0.continuation.resume(returning: true) }
    }

    /// Moves only the wall clock, like an administrator or NTP; negative goes back.
    package func setWallClock(bySeconds seconds: Int64) {
        state.withLock { $0.wall += seconds }
    }

    package func sleep(for duration: Duration) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let woke = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now: Bool? = state.withLock { state in
                    if state.cancelled.remove(id) != nil || state.hasEnded { return false }
                    if duration <= .zero { return true }
                    state.sleepers.append(
                        Sleeper(id: id, deadline: state.uptime + duration, continuation: continuation))
                    return nil
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            let sleeper = state.withLock { state -> Sleeper? in
                guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else {
                    state.cancelled.insert(id)
                    return nil
                }
                return state.sleepers.remove(at: index)
            }
            sleeper?.continuation.resume(returning: false)
        }
        if !woke { throw CancellationError() }
    }
}

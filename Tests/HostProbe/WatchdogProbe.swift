import BrokerHost
import BrokerModel
import BrokerSocket
import BrokerValues
import Dispatch
import Glibc
import Logging
import Synchronization

/// Feeds the watchdog as the broker does; then while all threads shared by requests' tasks are taken; then again.
enum WatchdogProbe {
    static func run(socket: String) async {
        // With the priority of the broker's services, which differs from that of requests' tasks.
        await Task(priority: .high) {
            do { try await feed(socket) } catch { exit(3) }
        }.value
    }

    private static func feed(_ socket: String) async throws {
        let reactor = try Reactor()
        let listener = try await LocalListener.start(
            .bind(SocketPlace(path: socket)), on: reactor, service: Nobody(), logger: Logger(label: "probe"))
        let manager = ServiceManager()
        let clock = SteppedClock()
        let feeding = Task {
            await Watchdog(manager: manager, clock: clock) { try await listener.heartbeat() }.run()
        }
        await clock.sleeper(1)

        let gate = DispatchSemaphore(value: 0)
        let tasks = 64 + 4 * sysconf(Int32(_SC_NPROCESSORS_ONLN))
        for _ in 0..<tasks { Task.detached { pass(gate) } }
        manager.status("taken")
        clock.step()
        // By then the event loop has answered everything that it can answer alone.
        for _ in 0..<100 { await reactor.perform {} }
        manager.status("free")
        for _ in 0..<tasks { gate.signal() }
        await clock.sleeper(2)
        feeding.cancel()
        await listener.shutDown(within: .zero)
        await reactor.stop()
    }

    private static func pass(_ gate: DispatchSemaphore) { gate.wait() }
}

/// A clock that the test advances.
private final class SteppedClock: BrokerClock {
    private struct State {
        var sleepers = 0
        var sleeping: CheckedContinuation<Void, Never>?
        var awaited: (count: Int, CheckedContinuation<Void, Never>)?
    }
    private let state = Mutex(State())

    var now: NumericDate { 0 }
    var uptime: Duration { .zero }

    func sleep(for duration: Duration) async throws {
        await withCheckedContinuation { sleeping in
            let awaited = state.withLock { state -> CheckedContinuation<Void, Never>? in
                state.sleepers += 1
                state.sleeping = sleeping
                guard let awaited = state.awaited, awaited.count <= state.sleepers else { return nil }
                state.awaited = nil
                return awaited.1
            }
            awaited?.resume()
        }
    }

    func step() {
        let sleeping = state.withLock { state in
            defer { state.sleeping = nil }
            return state.sleeping
        }
        sleeping?.resume()
    }

    /// Returns when a task sleeps for the given time.
    func sleeper(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.sleepers < count { state.awaited = (count, continuation) }
                return state.sleepers >= count
            }
            if isThere { continuation.resume() }
        }
    }
}

private struct Nobody: ConnectionService {
    func admit(_ connection: LocalConnection, _: PeerSnapshot?) -> ConnectionDecision { .refuse([]) }
}

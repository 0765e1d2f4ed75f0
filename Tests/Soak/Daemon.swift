import BrokerTestSupport
import Foundation

/// The broker and its successors: the socket outlives each of them, and clients wait at it meanwhile.
actor Daemon {
    private let bed: TestBed
    private let clock: MovedClock
    private let socket: ServiceSocket
    private let state: String
    private let spentTokens: SpentTokens
    private(set) var broker: BrokerProcess
    private(set) var restarts = 0

    init(_ spentTokens: SpentTokens, in bed: TestBed) async throws {
        (self.bed, self.spentTokens) = (bed, spentTokens)
        clock = try await MovedClock(in: bed)
        socket = try ServiceSocket(path: bed.path("broker.sock"))
        state = try bed.makeDirectory("state")
        broker = try await Self.start(in: bed, socket, state, clock)
    }

    private static func start(
        in bed: TestBed, _ socket: ServiceSocket, _ state: String, _ clock: MovedClock
    ) async throws -> BrokerProcess {
        try await BrokerProcess.start(in: bed) {
            $0.activated = socket
            $0.stateDirectory = state
            $0.wrapper = clock.wrapper
            $0.configuration = "[log]\nlevel = \"error\"\n[access]\nask_in_browser = false\n"
        }
    }

    /// By SIGKILL, or by a request to stop, which first completes work in progress.
    func restart(byKilling: Bool) async throws {
        if byKilling {
            await broker.kill()
            spentTokens.brokerGaveUp()
        } else {
            let begin = ContinuousClock.now
            let end = await broker.stop()
            // After five seconds it abandons requests to providers.
            if end != .exited(0) || ContinuousClock.now - begin >= .seconds(5) { spentTokens.brokerGaveUp() }
        }
        broker = try await Self.start(in: bed, socket, state, clock)
        restarts += 1
    }

    nonisolated func setClock(ahead seconds: Int64) throws { try clock.set(to: seconds) }
}

/// A process's resources at a moment.
struct Usage {
    var residentMegabytes: Double
    var descriptors: Int

    init(of pid: pid_t) throws {
        residentMegabytes = try ProcessMemory.resident.megabytes(of: pid)
        descriptors = try ProcessDescriptors.count(of: pid)
    }
}

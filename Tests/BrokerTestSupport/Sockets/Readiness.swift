import Foundation
import Glibc
import Synchronization

/// Waits for a descriptor without a thread each, so that a test can have hundreds of sockets.
///
/// One thread with poll(2) for all: libdispatch's manager was observed to crash the process when one of its sources on a
/// descriptor was cancelled at the moment of an event.
enum Readiness {
    enum Direction { case reading, writing }

    /// - Returns: false if the time passed first. From then on other code may use or close the descriptor.
    /// - Throws: if there was no descriptor left for the waiting thread.
    static func wait(_ descriptor: Int32, for direction: Direction, seconds: Double) async throws -> Bool {
        let poller = try poller.get()
        return await withCheckedContinuation { continuation in
            poller.add(
                Poller.Waiter(
                    descriptor: descriptor, events: Int16(direction == .reading ? POLLIN : POLLOUT),
                    deadline: .now + .seconds(seconds), continuation: continuation))
        }
    }

    private static let poller = Result { try Poller() }
}

private final class Poller: Sendable {
    struct Waiter: Sendable {
        let descriptor: Int32
        let events: Int16
        let deadline: ContinuousClock.Instant
        let continuation: CheckedContinuation<Bool, Never>
    }

    private let newcomers = Mutex<[Waiter]>([])
    /// A byte in it signals new waiters.
    private let (bell, rope): (Int32, Int32)

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw ProcessFailure("pipe: errno \(errno)") }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (bell, rope) = (ends[0], ends[1])
        Thread.detachNewThread { self.run() }
    }

    func add(_ waiter: Waiter) {
        newcomers.withLock { $0.append(waiter) }
        // A full pipe signals as well.
        _ = write(rope, "!", 1)
    }

    private func run() {
        var waiting: [Waiter] = []
        while true {
            waiting += newcomers.withLock { newcomers in
                defer { newcomers = [] }
                return newcomers
            }
            var entries = waiting.map { pollfd(fd: $0.descriptor, events: $0.events, revents: 0) }
            entries.append(pollfd(fd: bell, events: Int16(POLLIN), revents: 0))
            poll(&entries, nfds_t(entries.count), Self.milliseconds(until: waiting.map(\.deadline).min()))
            var bytes = [UInt8](repeating: 0, count: 512)
            while read(bell, &bytes, bytes.count) > 0 {}
            let now = ContinuousClock.now
            waiting = zip(waiting, entries).compactMap { waiter, entry in
                guard entry.revents == 0, now < waiter.deadline else {
                    waiter.continuation.resume(returning: entry.revents != 0)
                    return nil
                }
                return waiter
            }
        }
    }

    /// In the format of poll(2).
    private static func milliseconds(until deadline: ContinuousClock.Instant?) -> Int32 {
        guard let deadline else { return -1 }
        return Int32(max(0, min((deadline - .now) / .milliseconds(1) + 1, 60_000)))
    }
}

import CBrokerLinux
import Synchronization

/// The reactors that connections are handed round to. Each owns its connections; what holds for all has a lock (``LineTable``).
///
/// Another one begins when somebody connects while each that there is has a connection: who serves one client has one thread.
package final class Reactors: Sendable {
    /// The one that accepts.
    package let first: Reactor
    private let others = Mutex<[Reactor]>([])
    private let useful: @Sendable () -> Int

    /// - Parameter useful: how many are of use; more are not begun. One for each core, and four at most: more gain little, since
    ///   many programs seldom ask at once.
    /// - Throws: ``SocketError`` when the system has no descriptor or no thread to spare.
    package init(
        useful: @escaping @Sendable () -> Int = { min(Int(broker_usable_cores()), 4) }
    ) throws(SocketError) {
        first = try Reactor()
        self.useful = useful
    }

    package var all: [Reactor] { [first] + others.withLock { $0 } }

    /// The one with the fewest connections, for one more; it is counted from now on.
    func next() -> Reactor {
        others.withLock { others in
            var fewest = others.reduce(first) { $1.connections < $0.connections ? $1 : $0 }
            // Where the system has no thread to spare, those that there are serve everybody.
            if fewest.connections > 0, others.count + 1 < useful(), let another = try? Reactor() {
                others.append(another)
                fewest = another
            }
            fewest.countConnection()
            return fewest
        }
    }

    /// Does the job on the reactor's thread when each of all has done what was ready for it: who had hung up by now is known then to have.
    func whenAllHaveTurned(on reactor: Reactor, _ job: @escaping @Sendable () -> Void) {
        Self.turn(all[...], then: reactor, job)
    }

    private static func turn(_ rest: ArraySlice<Reactor>, then last: Reactor, _ job: @escaping @Sendable () -> Void) {
        guard let next = rest.first else { return last.execute(job) }
        next.execute { turn(rest.dropFirst(), then: last, job) }
    }

    /// Returns when their threads have ended.
    package func stop() async {
        for reactor in all { await reactor.stop() }
    }
}

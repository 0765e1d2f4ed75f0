import CBrokerLinux
import Synchronization

/// The reactors that connections are handed round to. Each owns its connections; what holds for all has a lock (``LineTable``).
///
/// Another one begins when somebody connects while each that there is has a connection: as long as there are few connections, each has
/// a thread of its own. The kernel then lets who asks and who answers take turns on one core.
package final class Reactors: Sendable {
    /// The one that accepts.
    package let first: Reactor
    private let others = Mutex<[Other]>([])
    private let useful: @Sendable () -> Int
    /// Of the others. One core is left to everybody else; and who connects waits for nobody.
    private let turns = ReactorTurns(most: Int(broker_usable_cores()) - 1)

    private struct Other {
        let reactor: Reactor
        /// It had no connection when it was looked at last.
        var wasIdle = false
    }

    /// More are not begun; connections share them then.
    package static let most = 32

    /// - Parameter useful: how many are of use. On one core that is one, which answers many at a time.
    /// - Throws: ``SocketError`` when the system has no descriptor or no thread to spare.
    package init(
        useful: @escaping @Sendable () -> Int = { broker_usable_cores() > 1 ? Reactors.most : 1 }
    ) throws(SocketError) {
        first = try Reactor()
        self.useful = useful
    }

    package var all: [Reactor] { [first] + others.withLock { $0.map(\.reactor) } }

    /// The one with the fewest connections, for one more; it is counted from now on.
    package func next() -> Reactor {
        others.withLock { others in
            let useful = useful()
            var fewest = others.prefix(useful - 1).reduce(first) {
                $1.reactor.connections < $0.connections ? $1.reactor : $0
            }
            // Where the system has no thread to spare, those that there are serve everybody.
            if fewest.connections > 0, others.count + 1 < useful, let another = try? Reactor(turns) {
                others.append(Other(reactor: another))
                fewest = another
            }
            fewest.countConnection()
            return fewest
        }
    }

    /// Ends those that had no connection when this was called last, and have none; to be called from time to time.
    package func rest() {
        let idle = others.withLock { others in
            let idle = others.filter { $0.wasIdle && $0.reactor.connections == 0 }.map(\.reactor)
            others.removeAll { other in idle.contains { $0 === other.reactor } }
            for index in others.indices { others[index].wasIdle = others[index].reactor.connections == 0 }
            return idle
        }
        for reactor in idle { reactor.endSoon() }
    }

    /// Does the job on the reactor's thread when each of all has done what was ready for it: who had hung up by now is known then to have.
    package func whenAllHaveTurned(on reactor: Reactor, _ job: @escaping @Sendable () -> Void) {
        Self.turn(all[...], then: reactor, job)
    }

    private static func turn(_ rest: ArraySlice<Reactor>, then last: Reactor, _ job: @escaping @Sendable () -> Void) {
        guard let next = rest.first else {
            last.execute(job)
            return
        }
        let goOn = { @Sendable in turn(rest.dropFirst(), then: last, job) }
        // One that has ended had no connections left.
        if !next.execute(goOn) { goOn() }
    }

    /// Returns when their threads have ended.
    package func stop() async {
        for reactor in all { await reactor.stop() }
    }
}

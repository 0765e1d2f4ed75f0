import BrokerModel
import BrokerSocket
import BrokerTestSupport
import Dispatch
import Foundation
import Synchronization
import Testing

@Suite("Connections are handed round to reactors, and limits hold for all together")
struct ManyReactorsTests {
    /// Which reactor each line came to, in the order of the lines.
    private final class Seen: Sendable {
        private let reactors = Mutex<[ObjectIdentifier]>([])

        func add(_ connection: LineConnection) {
            reactors.withLock { $0.append(ObjectIdentifier(connection.reactor)) }
        }

        var count: Int { reactors.withLock { Set($0).count } }
        var all: [ObjectIdentifier] { reactors.withLock { $0 } }
    }

    private final class Answers: Sendable {
        let count = Mutex(0)
    }

    /// How many are served at a time.
    private final class Flooded: Sendable {
        private let counts = Mutex((inside: 0, most: 0))

        func begin() {
            counts.withLock {
                $0.inside += 1
                $0.most = max($0.most, $0.inside)
            }
        }

        func end() { counts.withLock { $0.inside -= 1 } }

        var inside: Int { counts.withLock { $0.inside } }
        var most: Int { counts.withLock { $0.most } }
    }

    private func service(_ seen: Seen) -> ScriptedService {
        ScriptedService(onLine: { line, connection in
            seen.add(connection)
            connection.say(line)
        })
    }

    @Test(
        "one client has one thread; others begin with further connections, as many as can work, and share them evenly")
    func handedRound() async throws {
        let seen = Seen()
        try await withListener(service(seen), reactors: 3) { bed in
            let first = try await bed.connect()
            #expect(try await first.ask("one") == "one")
            #expect(bed.listener.reactors.all.count == 1)
            var clients = [first]
            for _ in 1..<6 {
                clients.append(try await bed.connect())
                #expect(try await clients.last?.ask("more") == "more")
            }
            #expect(bed.listener.reactors.all.count == 3 && seen.count == 3)
            let shares = Dictionary(grouping: seen.all) { $0 }.values.map(\.count)
            #expect(shares == [2, 2, 2])
        }
    }

    @Test(
        "threads that have no connection any more end; who connects then is served, and whoever has one stays where it is"
    )
    func rest() async throws {
        let seen = Seen()
        try await withListener(service(seen), reactors: 3) { bed in
            var clients: [LineClient] = []
            for number in 0..<3 {
                clients.append(try await bed.connect())
                #expect(try await clients[number].ask("here") == "here")
            }
            let reactors = bed.listener.reactors
            await clients[1].close()
            try await eventually("it is known to have gone") { reactors.all.map(\.connections) == [1, 0, 1] }
            let ended = reactors.all[1]
            // Who went just now may come again.
            reactors.rest()
            #expect(reactors.all.count == 3)
            reactors.rest()
            #expect(reactors.all.map(\.connections) == [1, 1])
            await ended.stop()
            #expect(try await clients[2].ask("still here") == "still here")
            #expect(seen.all[2] == seen.all[3])
            try await bed.listener.heartbeat()
            let another = try await bed.connect()
            #expect(try await another.ask("new") == "new")
            #expect(reactors.all.map(\.connections) == [1, 1, 1] && seen.count >= 3)
        }
    }

    @Test("a thread that ends amid a turn of all keeps nobody waiting for the turn")
    func endsAmidATurn() async throws {
        let reactors = try Reactors(useful: { 3 })
        let others = [reactors.next(), reactors.next(), reactors.next()].dropFirst()
        for reactor in others { reactor.forgetConnection() }
        // They are among all when the turn begins, and have ended when it comes to them.
        let gate = DispatchSemaphore(value: 0)
        reactors.first.execute { gate.wait() }
        await withCheckedContinuation { turned in
            reactors.whenAllHaveTurned(on: reactors.first) { turned.resume() }
            for _ in 1...2 { reactors.rest() }
            Task {
                for reactor in others { await reactor.stop() }
                gate.signal()
            }
        }
        await reactors.stop()
    }

    @Test("whoever floods over several connections is served one after the other, and others beside them at once")
    func floods() async throws {
        let seen = Flooded()
        let gate = DispatchSemaphore(value: 0)
        let service = ScriptedService(onLine: { line, connection in
            if line == "flood" {
                seen.begin()
                gate.wait()
                seen.end()
            }
            connection.say(line)
        })
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let flooders = max(1, cores - 1) + 2
        try await withListener(service, reactors: flooders + 2) { bed in
            // The first reactor accepts, and takes no turns.
            let first = try await bed.connect()
            #expect(try await first.ask("first") == "first")
            var flooding: [LineClient] = []
            // More than a connection has in a turn: from then on its reactor takes turns with the others.
            for _ in 0..<flooders {
                let client = try await bed.connect()
                try await client.send(String(repeating: "more\n", count: 40))
                for _ in 0..<40 { #expect(try await client.readLine() == "more") }
                flooding.append(client)
            }
            for client in flooding { try await client.sendLine("flood") }
            // Whatever becomes of it, nobody waits for ever.
            defer { for _ in flooding { gate.signal() } }
            try await eventually("as many as may are at it") { seen.inside == flooders - 2 }
            let other = try await bed.connect()
            for _ in 0..<50 { #expect(try await other.ask("other") == "other") }
            #expect(seen.most == flooders - 2)
            for _ in flooding { gate.signal() }
            for client in flooding { #expect(try await client.readLine() == "flood") }
            #expect(seen.most == flooders - 2)
        }
    }

    @Test("where fewer are of use than there are, who connects comes to those that are")
    func fewer() async throws {
        let useful = Mutex(3)
        let reactors = try Reactors(useful: { useful.withLock { $0 } })
        let begun = [reactors.next(), reactors.next(), reactors.next()]
        #expect(begun.map(\.connections) == [1, 1, 1])
        useful.withLock { $0 = 1 }
        #expect(reactors.next() === reactors.first && reactors.next() === reactors.first)
        await reactors.stop()
    }

    @Test("the places are taken by all together, and a quiet connection gives way to one of another reactor")
    func places() async throws {
        for isIdle in [false, true] {
            let seen = Seen()
            let service = service(seen)
            service.isIdle = isIdle
            try await withListener(
                service, reactors: 2,
                limits: {
                    $0.connections = 3
                    $0.reserve = 0
                    $0.quiet = .zero
                }
            ) { bed in
                var clients: [LineClient] = []
                for _ in 0..<3 {
                    clients.append(try await bed.connect())
                    #expect(try await clients.last?.ask("mine") == "mine")
                }
                #expect(seen.count == 2)
                let another = try await bed.connect()
                if isIdle {
                    #expect(try await another.ask("let me in") == "let me in")
                    #expect(try await clients[0].readToEnd() == "")
                    // The first connection was of another reactor.
                    #expect(seen.all.first != seen.all.last)
                } else {
                    #expect(try await another.readToEnd() == "too many 3\n")
                }
                #expect(bed.listener.connectionCount == 3)
            }
        }
    }

    @Test("what connections of several reactors hold is counted together, and whoever holds the most is cut off")
    func memory() async throws {
        try await withListener(service(Seen()), reactors: 2, limits: { $0.held = 500_000 }) { bed in
            let greedy = try await bed.connect()
            try await greedy.send(String(repeating: "g", count: 400_000))
            let modest = try await bed.connect()
            try await modest.send(String(repeating: "m", count: 200_000))
            #expect(try await greedy.readToEnd() == "")
            try await modest.send("\n")
            #expect(try await modest.readLine()?.count == 200_000)
        }
    }

    /// Two clients, one on each of two reactors, of which the second is stuck until the gate opens.
    private func withStuckReactor(
        limits: (inout LineLimits) -> Void = { _ in },
        _ body: (ListenerBed, ScriptedService, (served: LineClient, stuck: LineClient), DispatchSemaphore) async throws
            -> Void
    ) async throws {
        let gate = DispatchSemaphore(value: 0)
        let service = ScriptedService(onLine: { line, connection in
            if line == "wait" { gate.wait() }
            connection.say(line)
        })
        try await withListener(service, reactors: 2, limits: limits) { bed in
            let served = try await bed.connect()
            #expect(try await served.ask("first") == "first")
            let stuck = try await bed.connect()
            #expect(try await stuck.ask("second") == "second")
            try await stuck.sendLine("wait")
            try await eventually("it is stuck") { service.counts.received == 3 }
            defer { gate.signal() }
            try await body(bed, service, (served, stuck), gate)
        }
    }

    @Test("while one reactor is stuck the watchdog hears nothing, and connections of another are served")
    func stuck() async throws {
        try await withStuckReactor { bed, _, clients, gate in
            let answers = Answers()
            let beat = Task { [listener = bed.listener] in
                try await listener.heartbeat()
                answers.count.withLock { $0 += 1 }
            }
            // What the other reactor can answer alone, it has answered by then.
            for _ in 0..<100 { #expect(try await clients.served.ask("still") == "still") }
            #expect(answers.count.withLock { $0 } == 0)
            gate.signal()
            try await beat.value
            #expect(answers.count.withLock { $0 } == 1)
            #expect(try await clients.stuck.readLine() == "wait")
        }
    }

    @Test("whoever has hung up keeps nobody out, although its reactor had no time to see it")
    func hungUp() async throws {
        try await withStuckReactor(limits: {
            $0.connections = 2
            $0.reserve = 0
        }) { bed, _, clients, gate in
            await clients.stuck.close()
            let another = try await bed.connect()
            try await another.sendLine("let me in")
            for _ in 0..<100 { #expect(try await clients.served.ask("still") == "still") }
            gate.signal()
            #expect(try await another.readLine() == "let me in")
            let refused = try await bed.connect()
            #expect(try await refused.readToEnd() == "too many 2\n")
        }
    }

    @Test(
        "who connected before the socket was listened at, and writes before its reactor has time, is known all the same"
    )
    func early() async throws {
        try await withStuckReactor { bed, service, _, gate in
            let path = bed.bed.path("early.sock")
            let socket = try ListeningSocket.bind(SocketPlace(path: path))
            let early = [try await LineClient.connect(to: path), try await LineClient.connect(to: path)]
            let another = try await bed.listener.startAnother(socket, service: service)
            try await eventually("both are handed round") { bed.listener.reactors.all.map(\.connections) == [2, 2] }
            for client in early { try await client.sendLine("early") }
            gate.signal()
            for client in early { #expect(try await client.readLine() == "early") }
            await another.shutDown(within: .zero)
        }
    }

    @Test("a shutdown waits for the connections of all reactors, and cuts off what is left on each")
    func shutDown() async throws {
        let service = ScriptedService(onDrain: { _ in })
        try await withListener(service, reactors: 2) { bed in
            let clients = [try await bed.connect(), try await bed.connect()]
            for client in clients { #expect(try await client.ask("here") == "here") }
            #expect(await bed.listener.shutDown(within: .zero) == 2)
            #expect(service.counts.drains == 2)
            for client in clients { #expect(try await client.readToEnd() == "") }
        }
    }
}

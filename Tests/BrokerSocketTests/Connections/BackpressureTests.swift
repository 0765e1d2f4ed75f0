import BrokerSocket
import BrokerTestSupport
import Dispatch
import Synchronization
import Testing

@Suite("A client that is slower than the broker")
struct BackpressureTests {
    @Test("requests of a client that reads no answers are left in its own socket, and come through when it reads")
    func slowReader() async throws {
        let answer = String(repeating: "a", count: 4000)
        let service = ScriptedService { line, connection in connection.say(line + answer) }
        try await withListener(service) { bed in
            let client = try await bed.connect()
            let other = try await bed.connect()
            // About 40 MB of answers, far more than the sockets hold.
            let total = 10_000
            let sender = Task { try await client.send((0..<total).map { "\($0):\n" }.joined()) }
            try await eventually("the broker leaves requests unread, on an event loop that goes round") {
                let before = service.counts.received
                for _ in 0..<3 { try await bed.listener.heartbeat() }
                return await client.isUnread && before > 0 && service.counts.received == before
            }
            // High water mark 256 KiB, socket buffers of some 100 KiB, one read of 16 KiB with its answers.
            #expect(service.counts.received < total / 2)
            #expect(try await other.ask("other") == "other" + answer)
            for number in 0..<total {
                let line = try await client.readLine()
                #expect(line?.hasPrefix("\(number):a") == true)
            }
            try await sender.value
        }
    }

    @Test("a client that leaves what it subscribed to unread is cut off before it fills the memory")
    func cutOff() async throws {
        let service = ScriptedService { _, connection in
            for _ in 0..<4000 { connection.say(String(repeating: "e", count: 1000)) }
        }
        try await withListener(service, limits: { $0.unreadAnswers = 1 << 20 }) { bed in
            let client = try await bed.connect()
            try await client.sendLine("subscribe")
            try await eventually("the connection is cut off") { service.counts.closes == 1 }
            #expect(bed.listener.connectionCount == 0)
            #expect(try await client.readToEnd().utf8.count < 2 << 20)
        }
    }

    @Test("a handler that pauses gets no further line, also none that has arrived, until it resumes")
    func pause() async throws {
        let held = Held<(LocalConnection, String)>()
        let service = ScriptedService { line, connection in
            if held.keep((connection, line)) % 4 == 0 { connection.pauseReading() }
        }
        try await withListener(service) { bed in
            let client = try await bed.connect()
            try await client.send((0..<10).map { "\($0)\n" }.joined())
            try await eventually("four lines are held") { service.counts.received == 4 }
            try await client.sendLine("10")
            // A round on the event loop, in which further lines would have been delivered.
            try await bed.listener.heartbeat()
            #expect(service.counts.received == 4)

            for expected in [8, 11] {
                let lines = held.take()
                for (connection, line) in lines { connection.say(line) }
                try #require(lines.first).0.resumeReading()
                try await eventually("\(expected) lines came") { service.counts.received == expected }
            }
            for (connection, line) in held.take() { connection.say(line) }
            #expect(try await client.readLines(11) == (0..<11).map(String.init))
        }
    }

    @Test("a client that goes away while its handler pauses is noticed, and what it sent before is not lost")
    func goneWhilePaused() async throws {
        let service = ScriptedService { line, connection in if line == "0" { connection.pauseReading() } }
        try await withListener(service) { bed in
            let client = try await bed.connect()
            try await client.send("0\n")
            try await eventually("the first line came") { service.counts.received == 1 }
            // More than is read at once.
            try await client.send((1..<3_000).map { "line \($0)\n" }.joined())
            await client.close()
            try await eventually("the end was noticed") { service.counts.closes == 1 }
            #expect(service.counts.departures == 1 && service.counts.received == 3_000)
        }
    }

    @Test("a client that only shuts its writing side while its handler pauses has all its lines taken, and answered")
    func halfClosedWhilePaused() async throws {
        let held = Held<LocalConnection>()
        let service = ScriptedService { line, connection in
            connection.say(line)
            guard line == "0" else { return }
            held.keep(connection)
            connection.pauseReading()
        }
        try await withListener(service) { bed in
            let client = try await bed.connect()
            let lines = (0..<3_000).map { "\($0)\n" }.joined()
            try await client.send(lines)
            await client.shutDownWriting()
            try await eventually("the first line came") { service.counts.received == 1 }
            try await bed.listener.heartbeat()
            #expect(service.counts.inputEnds == 0 && service.counts.closes == 0)
            held.take().first?.resumeReading()
            #expect(try await client.readToEnd() == lines)
        }
    }

    @Test("whoever sends many lines at once lets others have their turn between them")
    func turns() async throws {
        let (isBegun, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let order = Mutex<[String]>([])
        let service = ScriptedService { line, connection in
            order.withLock { $0.append(line) }
            guard line == "begin" else { return }
            // All others wait meanwhile.
            isBegun.signal()
            mayGoOn.wait()
        }
        try await withListener(service) { bed in
            let (greedy, modest) = (try await bed.connect(), try await bed.connect())
            try await modest.send("hello\n")
            try await eventually("both are connected") { service.counts.received == 1 }
            try await greedy.send("begin\n" + String(repeating: "x\n", count: 4_000))
            await withCheckedContinuation { done in
                DispatchQueue.global().async {
                    isBegun.wait()
                    done.resume()
                }
            }
            try await modest.send("me too\n")
            mayGoOn.signal()
            try await eventually("all lines came") { service.counts.received == 4_003 }
            let place = try #require(order.withLock { $0.firstIndex(of: "me too") })
            #expect(place < 100)
        }
    }

    @Test("time in which the broker itself does not read is not held against a half line")
    func pausedHalfLine() async throws {
        let held = Held<LocalConnection>()
        let timeIsUp = Gate()
        let service = ScriptedService { line, connection in
            connection.say(line)
            guard line == "first" else { return }
            held.keep(connection)
            // Next on the event loop: the half line has come in the same read, and its time is running.
            connection.reactor.execute {
                connection.pauseReading()
                // Set after the broker's own timer, it goes off after it.
                connection.reactor.schedule(after: .seconds(1)) { timeIsUp.open() }
            }
        }
        try await withListener(service, limits: { $0.halfLine = .seconds(1) }) { bed in
            let client = try await bed.connect()
            try await client.send("first\nsec")
            #expect(try await client.readLine() == "first")
            await timeIsUp.wait()
            try await client.sendLine("ond")
            held.take().first?.resumeReading()
            #expect(try await client.readLine() == "second")
        }
    }
}

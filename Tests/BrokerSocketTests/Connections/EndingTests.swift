import BrokerSocket
import BrokerTestSupport
import Testing

@Suite("How a connection ends")
struct EndingTests {
    private typealias Waiting = Held<(LocalConnection, String)>

    private func answerAllAndClose(_ held: Waiting) {
        let lines = held.take()
        for (connection, line) in lines { connection.say("answer to " + line) }
        for (connection, _) in lines { connection.close() }
    }

    @Test("a client that shuts its writing side still gets its answers, and then the end")
    func halfClose() async throws {
        let held = Waiting()
        let service = ScriptedService(onLine: { held.keep(($1, $0)) }, onInputEnd: { _ in })
        try await withListener(service) { bed in
            let client = try await bed.connect()
            try await client.send("a\nb\n")
            await client.shutDownWriting()
            try await eventually("the handler sees the end of input") { service.counts.inputEnds == 1 }
            #expect(service.counts.received == 2)
            #expect(service.counts.closes == 0)
            answerAllAndClose(held)
            #expect(try await client.readToEnd() == "answer to a\nanswer to b\n")
        }
    }

    @Test("a line cut off by the end is named and not taken for a request")
    func cutOffLine() async throws {
        let service = ScriptedService()
        try await withListener(service) { bed in
            let client = try await bed.connect()
            try await client.send("whole\n{\"id\":1}")
            await client.shutDownWriting()
            #expect(try await client.readToEnd() == "whole\ncut off\n")
            #expect(service.counts.received == 1)
        }
    }

    @Test("a client that is gone is noticed at once, also after it shut its writing side, while its answer is pending")
    func gone() async throws {
        let held = Waiting()
        let service = ScriptedService(onLine: { held.keep(($1, $0)) }, onInputEnd: { _ in })
        try await withListener(service) { bed in
            let first = try await bed.connect()
            try await first.sendLine("a")
            try await eventually("the line came") { service.counts.received == 1 }
            await first.close()
            try await eventually("the end was noticed") { service.counts.closes == 1 }

            let second = try await bed.connect()
            try await second.sendLine("b")
            await second.shutDownWriting()
            try await eventually("the handler sees the end of input") { service.counts.inputEnds >= 1 }
            await second.close()
            try await eventually("the end was noticed") { service.counts.closes == 2 }
            // Nobody is there any more.
            answerAllAndClose(held)
            try await bed.listener.heartbeat()
            #expect(bed.listener.connectionCount == 0)
        }
    }

    @Test("what was sent before the client went away is still delivered")
    func sendAndGo() async throws {
        let service = ScriptedService()
        try await withListener(service) { bed in
            let client = try await bed.connect()
            try await client.send("note one\nnote two\n")
            await client.close()
            try await eventually("the connection ended") { service.counts.closes == 1 }
            #expect(service.counts.received == 2)
        }
    }

    @Test("close sends what was written and delivers nothing more")
    func close() async throws {
        let service = ScriptedService { line, connection in
            connection.say(String(repeating: line, count: 100_000))
            if line == "2" { connection.close() }
        }
        try await withListener(service) { bed in
            let client = try await bed.connect()
            try await client.send("1\n2\n3\n")
            let text = try await client.readToEnd()
            #expect(text.utf8.count == 200_002)
            #expect(service.counts.received == 2)
        }
    }

    @Test("a client that does not take its last answers cannot hold the connection")
    func closeUnread() async throws {
        let service = ScriptedService { _, connection in
            connection.say(String(repeating: "x", count: 2 << 20))
            connection.close()
        }
        try await withListener(service, limits: { $0.closing = .milliseconds(50) }) { bed in
            let client = try await bed.connect()
            try await client.sendLine("1")
            try await eventually("the connection is closed") { service.counts.closes == 1 }
            await client.close()
        }
    }

    @Test("shutdown lets handlers answer what is under way, takes nobody new and removes the path")
    func drain() async throws {
        let held = Waiting()
        let service = ScriptedService(onLine: { held.keep(($1, $0)) }, onDrain: { _ in })
        try await withListener(service) { bed in
            let client = try await bed.connect()
            let idle = try await bed.connect()
            try await client.sendLine("late")
            try await idle.sendLine("too")
            try await eventually("the requests came") { service.counts.received == 2 }
            async let cutOff = bed.listener.shutDown(within: .seconds(600))
            try await eventually("both handlers know") { service.counts.drains == 2 }
            await #expect(throws: LineClient.Failure.self) { try await bed.connect() }
            answerAllAndClose(held)
            #expect(try await client.readToEnd() == "answer to late\n")
            #expect(try await idle.readToEnd() == "answer to too\n")
            #expect(await cutOff == 0)
        }
    }

    @Test("what is not done at shutdown's deadline is cut off")
    func deadline() async throws {
        let service = ScriptedService(onLine: { _, _ in }, onDrain: { _ in })
        try await withListener(service) { bed in
            let client = try await bed.connect()
            try await client.sendLine("never answered")
            try await eventually("the request came") { service.counts.received == 1 }
            #expect(await bed.listener.shutDown(within: .milliseconds(50)) == 1)
            #expect(try await client.readLine() == nil)
            #expect(service.counts.closes == 1)
        }
    }
}

import BrokerModel
import BrokerSocket
import BrokerTestSupport
import Dispatch
import Glibc
import Synchronization
import Testing

@Suite("Lines over a Unix socket")
struct LineFlowTests {
    @Test("requests that come together are answered in order, and the answers go out together")
    func pipelined() async throws {
        let asking = Mutex<LineClient?>(nil)
        let hadAnswer = Recorder<Bool?>()
        let service = ScriptedService { line, connection in
            hadAnswer.add(asking.withLock { $0?.hasInput })
            connection.say(line)
        }
        try await withListener(service) { bed in
            let client = try await bed.connect()
            asking.withLock { $0 = client }
            // One small write, which the broker takes by one read.
            try await client.send("one\ntwo\nthree\n")
            #expect(try await client.readLines(3) == ["one", "two", "three"])
            #expect(hadAnswer.all == [false, false, false])
        }
    }

    @Test("who sends many requests that wait is not served before others: each has one line, and then the next one has")
    func turns() async throws {
        let lines = Recorder<String>()
        let bothHaveSent = DispatchSemaphore(value: 0)
        let service = ScriptedService { line, connection in
            lines.add(line)
            if line == "1" { bothHaveSent.wait() }
            connection.works(on: lines.all.count)
            connection.say(line)
        }
        try await withListener(service) { bed in
            let (many, one) = (try await bed.connect(), try await bed.connect())
            #expect(try await one.ask("0") == "0")
            try await many.send((1...8).map { "\($0)\n" }.joined())
            try await eventually("the reactor is busy") { lines.all.last == "1" }
            try await one.send("other\n")
            bothHaveSent.signal()
            #expect(try await one.readLine() == "other")
            #expect(try await many.readLines(8).count == 8)
            #expect(lines.all.prefix(4).contains("other"), "\(lines.all)")
        }
    }

    @Test("the kernel says who connected, and that stays known after the process ended")
    func peer() async throws {
        let service = ScriptedService()
        try await withListener(service) { bed in
            let client = try await bed.connect()
            _ = try await client.ask("hello")
            let peer = try #require(service.peers.first)
            #expect(peer.uid == geteuid())
            #expect(peer.gid == getegid())
            #expect(peer.pid == getpid())
            #expect(peer.process?.isRunning != false)

            let script =
                "import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.send(b'x\\n'); s.recv(9)"
            try await bed.bed.require("/usr/bin/python3", ["-c", script, bed.path])
            let child = try #require(service.peers.last)
            #expect(child.pid != getpid())
            #expect(child.process?.isRunning != true)
        }
    }

    @Test("a client that stalls in half a line gets an error and is closed; others are served meanwhile")
    func halfLine() async throws {
        let service = ScriptedService()
        try await withListener(service, limits: { $0.halfLine = .milliseconds(300) }) { bed in
            let stalled = try await bed.connect()
            let idle = try await bed.connect()
            let busy = try await bed.connect()
            #expect(try await idle.ask("before") == "before")
            try await stalled.send("whole\nhal")
            #expect(try await stalled.readLine() == "whole")
            #expect(try await busy.ask("meanwhile") == "meanwhile")
            #expect(try await stalled.readLine() == "stalled")
            #expect(try await stalled.readLine() == nil)
            // Doing nothing at all is allowed for as long as one likes.
            #expect(try await idle.ask("still here") == "still here")
            try await eventually("the stalled connection is gone") { service.counts.closes == 1 }
        }
    }

    @Test("a slow line is in time when each line is, however long they take together")
    func slowLines() async throws {
        let service = ScriptedService()
        try await withListener(service, limits: { $0.halfLine = .seconds(600) }) { bed in
            let client = try await bed.connect()
            for part in ["a", "b\nc", "d\ne", "f\n"] {
                try await client.send(part)
                try await eventually("the broker has read it") { await !client.isUnread }
            }
            #expect(try await client.readLines(3) == ["ab", "cd", "ef"])
        }
    }

    @Test("a line of 1 MiB is taken, a byte more is refused although the client goes on sending")
    func tooLong() async throws {
        let service = ScriptedService { line, connection in connection.say("\(line.utf8.count)") }
        // On a busy machine the client may take its time to send what nobody wants.
        try await withListener(service, limits: { $0.linger = .seconds(60) }) { bed in
            let exact = try await bed.connect()
            let limit = 1 << 20
            try await exact.send(String(repeating: "x", count: limit) + "\n")
            #expect(try await exact.readLine() == "\(limit)")

            let over = try await bed.connect()
            try await over.send(String(repeating: "x", count: limit + 1))
            // No newline was sent: the refusal does not wait for one.
            #expect(try await over.readLine() == "too long \(limit)")
            #expect(try await over.readLine() == nil)

            let endless = try await bed.connect()
            try await endless.send(String(repeating: "x", count: 3 * limit) + "\nmore\n")
            #expect(try await endless.readToEnd() == "too long \(limit)\n")

            #expect(try await exact.ask("abc") == "3")
            #expect(service.counts.received == 2)
        }
    }

    @Test("the connection above the limit gets an error and is closed; when another ends, its place is free")
    func connectionLimit() async throws {
        let service = ScriptedService()
        try await withListener(service, limits: { $0.connections = 3 }) { bed in
            var clients: [LineClient] = []
            for number in 0..<3 {
                let client = try await bed.connect()
                #expect(try await client.ask("\(number)") == "\(number)")
                clients.append(client)
            }
            #expect(bed.listener.connectionCount == 3)
            let surplus = try await bed.connect()
            try await surplus.sendLine("let me in")
            #expect(try await surplus.readToEnd() == "too many 3\n")
            #expect(try await clients[0].ask("unharmed") == "unharmed")
            await clients[1].close()
            try await eventually("a place is free") { bed.listener.connectionCount == 2 }
            let next = try await bed.connect()
            #expect(try await next.ask("now") == "now")
        }
    }

    @Test("256 connections at once are all served, and a crowd beyond them is turned away")
    func crowd() async throws {
        let service = ScriptedService()
        try await withListener(service) { bed in
            let clients = try await withThrowingTaskGroup(of: LineClient.self) { group in
                for number in 0..<256 {
                    group.addTask {
                        let client = try await bed.connect()
                        #expect(try await client.ask("\(number)") == "\(number)")
                        return client
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(bed.listener.connectionCount == 256)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<80 {
                    group.addTask {
                        let surplus = try await bed.connect()
                        #expect(try await surplus.readToEnd() == "too many 256\n")
                    }
                }
                try await group.waitForAll()
            }
            for client in clients { #expect(try await client.ask("again") == "again") }
        }
    }

    @Test("a peer that policy refuses gets the reason, also when it sent a request first")
    func refusedByPolicy() async throws {
        let service = ScriptedService(admission: { _ in "not you" })
        try await withListener(service) { bed in
            let client = try await bed.connect()
            try await client.sendLine("hello")
            #expect(try await client.readToEnd() == "not you\n")
            #expect(service.counts == .init())
            #expect(bed.listener.connectionCount == 0)
        }
    }

    @Test("a peer of another uid is recognised", .enabled(if: geteuid() == 0, "needs root to become somebody else"))
    func otherUser() async throws {
        let owner = geteuid()
        let service = ScriptedService(admission: { $0.uid == owner ? nil : "uid \($0.uid) is not served" })
        try await withListener(service, audience: .everybody) { bed in
            // The folder is 0700: in user mode nobody else comes as far as the socket.
            chmod(bed.bed.directory.path, 0o755)
            let script = """
                import socket, sys
                s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.sendall(b'hello\\n')
                print(s.makefile().read(), end='')
                """
            let words = [
                "--reuid", "65534", "--regid", "65534", "--clear-groups", "/usr/bin/python3", "-c", script, bed.path,
            ]
            let answer = try await bed.bed.require("/usr/bin/setpriv", words)
            #expect(answer == "uid 65534 is not served\n")
            #expect(service.counts.received == 0)
            let mine = try await bed.connect()
            #expect(try await mine.ask("mine") == "mine")
        }
    }

    @Test("lines written from many tasks at once arrive whole and none is lost")
    func interleaved() async throws {
        let service = ScriptedService { _, connection in
            for writer in 0..<20 {
                Task.detached {
                    for number in 0..<50 {
                        connection.say("\(writer)-\(number)-" + String(repeating: "z", count: 500 + number))
                    }
                }
            }
        }
        try await withListener(service) { bed in
            let client = try await bed.connect()
            try await client.sendLine("go")
            var last = [Int](repeating: -1, count: 20)
            for line in try await client.readLines(1000) {
                let parts = line.split(separator: "-")
                let (writer, number) = (try #require(Int(parts[0])), try #require(Int(parts[1])))
                #expect(parts[2].count == 500 + number)
                #expect(last[writer] == number - 1)
                last[writer] = number
            }
            #expect(last.allSatisfy { $0 == 49 })
        }
    }

    @Test("bytes that are no text reach the handler and harm nobody")
    func binary() async throws {
        let service = ScriptedService { line, connection in connection.say("\(line.utf8.count)") }
        try await withListener(service) { bed in
            let client = try await bed.connect()
            try await client.send([0x61, 0, 0x0D, 0x0A, 0x0A])
            #expect(try await client.readLines(2) == ["3", "0"])
        }
    }

    @Test("the event loop and the tasks that it starts answer the watchdog's question")
    func heartbeat() async throws {
        try await withListener(ScriptedService()) { bed in
            try await bed.listener.heartbeat()
        }
    }
}

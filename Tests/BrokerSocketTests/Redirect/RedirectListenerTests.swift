import BrokerModel
import BrokerSocket
import BrokerTestSupport
import Foundation
import Glibc
import Synchronization
import Testing

@Suite("Ports for redirects")
struct RedirectListenerTests {
    /// Whether this machine has IPv6 on loopback.
    static let hasIPv6: Bool = {
        let descriptor = socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
        defer { Glibc.close(descriptor) }
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_addr = in6addr_loopback
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size)) == 0
            }
        }
    }()

    @Test(
        "any port gives the same one on 127.0.0.1 and ::1, named in the URI",
        arguments: ["127.0.0.1", "localhost", "[::1]"])
    func anyPort(host: String) async throws {
        guard host != "[::1]" || Self.hasIPv6 else { return }
        try await withRedirect(.anyPort(host: host, path: "/")) { bed in
            #expect(bed.endpoint.redirectURI == "http://\(host):\(bed.port)/")
            for ip in Self.hasIPv6 ? ["127.0.0.1", "::1"] : ["127.0.0.1"] {
                try await bed.expect(200, for: "/?code=1", ip: ip)
            }
        }
    }

    @Test("a fixed port and path are used as registered, and only localhost uses both addresses")
    func fixed() async throws {
        let port = try FreePort.next()
        try await withRedirect(.fixed(host: "localhost", port: port, path: "/auth/back")) { bed in
            #expect(bed.endpoint.redirectURI == "http://localhost:\(port)/auth/back")
            try await bed.expect(200, for: "PATH?code=1")
            if Self.hasIPv6 { try await bed.expect(200, for: "PATH?code=1", ip: "::1") }
        }
        try await withRedirect(.fixed(host: "127.0.0.1", port: port, path: "/x")) { bed in
            try await bed.expect(200, for: "PATH?code=1")
            #expect(throws: LineClient.Failure.system("connect", ECONNREFUSED)) { try bed.connect(ip: "::1") }
        }
    }

    @Test("a fixed port in use is reported, and is free again at once after close")
    func portInUse() async throws {
        let port = try FreePort.next()
        try await withRedirect(.fixed(host: "127.0.0.1", port: port, path: "/x")) { bed in
            let second = redirectListener(in: bed.bed)
            await #expect(throws: RedirectError.portInUse(port)) {
                try await second.open(.fixed(host: "127.0.0.1", port: port, path: "/x")) { _ in .notExpected }
            }
            // The other address of localhost would be ours, but the browser might use the other process's.
            await #expect(throws: RedirectError.portInUse(port)) {
                try await second.open(.fixed(host: "localhost", port: port, path: "/x")) { _ in .notExpected }
            }
            // After a connection that has seen an answer the port is in TIME_WAIT.
            try await bed.expect(200, for: "PATH?code=1")
            await bed.endpoint.close()
            let again = try await second.open(.fixed(host: "localhost", port: port, path: "/x")) { _ in .notExpected }
            #expect(again.redirectURI == "http://localhost:\(port)/x")
            await again.close()
        }
    }

    @Test("when only ::1 has the port taken, localhost is refused and nothing stays open", .enabled(if: hasIPv6))
    func halfTaken() async throws {
        let port = try FreePort.next()
        try await withRedirect(.fixed(host: "[::1]", port: port, path: "/x")) { bed in
            let second = redirectListener(in: bed.bed)
            await #expect(throws: RedirectError.portInUse(port)) {
                try await second.open(.fixed(host: "localhost", port: port, path: "/x")) { _ in .notExpected }
            }
            #expect(throws: LineClient.Failure.system("connect", ECONNREFUSED)) { try bed.connect() }
        }
    }

    @Test("only loopback is listened on", arguments: ["0.0.0.0", "example.org", "192.168.1.1", "", "127.0.0.2"])
    func foreignHost(host: String) async throws {
        try await withTestBed { bed -> Void in
            await #expect(
                throws: RedirectError.cannotListen(
                    "A redirect can be received at 127.0.0.1, [::1], localhost and *.localhost only, not at \(host).")
            ) {
                try await redirectListener(in: bed).open(.anyPort(host: host, path: "/")) { _ in .notExpected }
            }
        }
    }

    @Test("an invalid path is refused", arguments: ["", "x", "/a b", "/a?b", "/a#b", "/ä"])
    func badPath(path: String) async throws {
        try await withTestBed { bed -> Void in
            await #expect(throws: RedirectError.cannotListen("The redirect's path \(path) is not the path of a URL.")) {
                try await redirectListener(in: bed).open(.anyPort(host: "localhost", path: path)) { _ in .notExpected }
            }
        }
    }

    @Test("many simultaneous browsers are all answered, each with its own page")
    func parallel() async throws {
        let allAreThere = Gate()
        try await withRedirect(answer: { parameters in
            await allAreThere.wait()
            return .signedIn(username: "user-\(parameters["code"] ?? "")", app: "app")
        }) { bed in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<30 {
                    group.addTask {
                        let reply = try await bed.get("PATH?code=\(number)")
                        #expect(reply.body.contains("<bdi>user-\(number)</bdi>"))
                    }
                }
                try await eventually("all are there") { bed.seen.all.count == 30 }
                allAreThere.open()
                try await group.waitForAll()
            }
            #expect(bed.seen.all.count == 30)
        }
    }

    @Test("connections without a request cannot keep a browser out")
    func crowd() async throws {
        try await withRedirect(limits: { $0.connections = 4 }) { bed in
            var idle: [LineClient] = []
            for _ in 0..<20 { idle.append(try bed.connect()) }
            try await bed.expect(200, for: "PATH?code=1")
            // The oldest had to make room.
            #expect(try await idle[0].readToEnd() == "")
        }
    }

    @Test("answered connections that are held open cannot keep a browser out")
    func answeredCrowd() async throws {
        try await withRedirect(limits: { $0.connections = 4 }, answer: { _ in .notExpected }) { bed in
            var held: [LineClient] = []
            for number in 0..<8 {
                let client = try bed.connect()
                try await client.send(bed.filled("GET PATH?code=\(number) HTTP/1.1\r\nHost: HOST\r\n\r\n"))
                #expect(try await client.readLine()?.contains("400") == true)
                held.append(client)
            }
            try await bed.expect(400, for: "PATH?code=1")
            for client in held { await client.close() }
        }
    }

    @Test(
        "another user of the machine takes none of the person's slots, only those of other users",
        .enabled(if: geteuid() == 0, "needs root, to be another user"))
    func otherUser() async throws {
        try await withRedirect(
            limits: {
                $0.connections = 2
                $0.strangers = 3
                $0.asking = .seconds(60)
            }
        ) { bed in
            let mine = [try bed.connect(), try bed.connect()]
            let script = """
                import os, socket, sys
                os.setgid(12345); os.setuid(12345)
                # Python's own modules may lie where only root can read: no more is imported by now.
                held = [socket.socket() for _ in range(20)]
                for connection in held: connection.connect(("127.0.0.1", \(bed.port)))
                # Which of them are closed: the broker says nothing to those that it keeps.
                def ended(connection):
                    connection.settimeout(60)
                    return connection.recv(1) == b""
                for connection in held[:17]:
                    assert ended(connection)
                print("crowded", flush=True)
                sys.stdin.readline()
                """
            let crowd = try bed.bed.start(Launch("python3", ["-c", script], hasInput: true), as: "crowd")
            try await crowd.waitForText("crowded")
            for client in mine {
                try await client.send(bed.filled("GET PATH?code=1 HTTP/1.1\r\nHost: HOST\r\n\r\n"))
                #expect(try await client.readLine()?.contains("200") == true)
            }
        }
    }

    @Test(
        "a redirect of another user's browser, or of a closed connection, counts only if configured",
        .enabled(if: geteuid() == 0, "needs root, to be another user"), arguments: [false, true])
    func redirectOfAnotherUser(isTaken: Bool) async throws {
        try await withRedirect(limits: { $0.takesRedirectsOfOtherUsers = isTaken }) { bed in
            let script = """
                import os, socket, struct
                os.setgid(12345); os.setuid(12345)
                def visit(hangs_up):
                    connection = socket.socket()
                    connection.connect(("127.0.0.1", \(bed.port)))
                    connection.sendall(b"\(bed.filled("GET PATH?code=1 HTTP/1.1\\r\\nHost: HOST\\r\\n\\r\\n"))")
                    if hangs_up:
                        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                        connection.close()
                    else:
                        print(connection.recv(100).split()[1].decode(), flush=True)
                for _ in range(20): visit(True)
                visit(False)
                """
            let result = try await bed.bed.require("python3", ["-c", script])
            #expect(result.trimmingCharacters(in: .newlines) == (isTaken ? "200" : "403"))
            #expect(bed.seen.all.isEmpty != isTaken)
            try await bed.expect(200, for: "PATH?code=1")
        }
    }

    @Test("a connection that waits for a page is not evicted for a new one")
    func waitingStay() async throws {
        let gate = Gate()
        try await withRedirect(
            limits: { $0.connections = 2 },
            answer: { _ in
                await gate.wait()
                return .canceled(app: "app")
            }
        ) { bed in
            async let first = bed.status("PATH?code=1")
            async let second = bed.status("PATH?code=2")
            try await eventually("both are waiting") { bed.seen.all.count == 2 }
            let surplus = try bed.connect()
            #expect(try await surplus.readToEnd() == "")
            gate.open()
            #expect(try await [first, second] == [200, 200])
        }
    }

    @Test("a connection that does not finish its request is closed in time")
    func slowRequest() async throws {
        try await withRedirect(limits: { $0.asking = .milliseconds(100) }) { bed in
            let client = try bed.connect()
            try await client.send("GET /callback?co")
            #expect(try await client.readToEnd() == "")
        }
    }

    @Test("a pending page is delivered after close, and no new connection is accepted")
    func close() async throws {
        let gate = Gate()
        try await withRedirect(answer: { _ in
            await gate.wait()
            return .signedIn(username: "ada", app: "app")
        }) { bed in
            async let page = bed.status("PATH?code=1")
            try await eventually("the redirect is there") { bed.seen.all.count == 1 }
            let idle = try bed.connect()
            await bed.endpoint.close()
            #expect(throws: LineClient.Failure.system("connect", ECONNREFUSED)) { try bed.connect() }
            #expect(try await idle.readToEnd() == "")
            gate.open()
            #expect(try await page == 200)
        }
    }

    @Test("a person who closes the tab too early does not stop the sign-in")
    func tabClosed() async throws {
        let gate = Gate()
        let finished = Mutex(false)
        try await withRedirect(answer: { _ in
            await gate.wait()
            finished.withLock { $0 = !Task.isCancelled }
            return .notExpected
        }) { bed in
            let client = try bed.connect()
            try await client.send(bed.filled("GET PATH?code=1 HTTP/1.1\r\nHost: HOST\r\n\r\n"))
            try await eventually("the redirect is there") { bed.seen.all.count == 1 }
            await client.close()
            gate.open()
            try await eventually("the last step is done") { finished.withLock { $0 } }
            try await bed.expect(400, for: "PATH?code=2")
        }
    }
}

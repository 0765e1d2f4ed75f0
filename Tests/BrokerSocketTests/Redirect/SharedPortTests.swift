import BrokerModel
import BrokerSocket
import BrokerTestSupport
import Glibc
import Testing

/// Most providers compare redirect URIs exactly: several sign-ins of an app, or of two, share one address.
@Suite("Several sign-ins at one registered port")
struct SharedPortTests {
    /// Expects this state, and no other.
    private static func expecting(_ state: String) -> @Sendable (RedirectParameters) async -> RedirectPage {
        { $0["state"] == state ? .signedIn(username: "person-of-\(state)", app: "app") : .notExpected }
    }

    private func page(_ path: String, at port: UInt16, ip: String = "127.0.0.1") async throws -> String {
        let client = try LineClient.connect(toPort: port, ip: ip)
        try await client.send("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
        let reply = try #require(Reply(try await client.readToEnd()))
        return reply.status == 200 ? String(reply.body.firstMatch(of: /person-of-\w+/)?.0 ?? "") : "\(reply.status)"
    }

    @Test("each redirect finds its sign-in by the state, and the port stays as long as one waits")
    func states() async throws {
        try await withTestBed { bed in
            let listener = redirectListener(in: bed)
            let port = try FreePort.next()
            let target = RedirectTarget.fixed(host: "127.0.0.1", port: port, path: "/cb")
            let one = try await listener.open(target, answer: Self.expecting("one"))
            let two = try await listener.open(target, answer: Self.expecting("two"))
            #expect(one.redirectURI == two.redirectURI)
            #expect(try await page("/cb?state=two", at: port) == "person-of-two")
            #expect(try await page("/cb?state=one", at: port) == "person-of-one")
            #expect(try await page("/cb?state=three", at: port) == "400")
            await one.close()
            await one.close()
            #expect(try await page("/cb?state=two", at: port) == "person-of-two")
            #expect(try await page("/cb?state=one", at: port) == "400")
            await two.close()
            #expect(throws: LineClient.Failure.system("connect", ECONNREFUSED)) {
                try LineClient.connect(toPort: port, ip: "127.0.0.1")
            }
        }
    }

    @Test("other paths and names of loopback share the port, and a path stays as long as one waits there")
    func paths() async throws {
        try await withTestBed { bed in
            let listener = redirectListener(in: bed)
            let port = try FreePort.next()
            let one = try await listener.open(
                .fixed(host: "127.0.0.1", port: port, path: "/one"), answer: Self.expecting("one"))
            let two = try await listener.open(
                .fixed(host: "localhost", port: port, path: "/two"), answer: Self.expecting("two"))
            #expect(try await page("/one?state=one", at: port) == "person-of-one")
            #expect(try await page("/two?state=two", at: port) == "person-of-two")
            #expect(try await page("/one?state=two", at: port) == "400")
            if RedirectListenerTests.hasIPv6 {
                #expect(try await page("/two?state=two", at: port, ip: "::1") == "person-of-two")
                #expect(try await page("/one?state=one", at: port, ip: "::1") == "404")
            }
            await one.close()
            #expect(try await page("/one?state=one", at: port) == "404")
            #expect(try await page("/two?state=two", at: port) == "person-of-two")
            await two.close()
        }
    }

    @Test("a port opened while the last user leaves is open")
    func turns() async throws {
        try await withTestBed { bed in
            let listener = redirectListener(in: bed)
            let target = RedirectTarget.fixed(host: "localhost", port: try FreePort.next(), path: "/")
            await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        guard let endpoint = try? await listener.open(target, answer: Self.expecting("x")) else {
                            return false
                        }
                        await endpoint.close()
                        return true
                    }
                }
                for await isOpened in group { #expect(isOpened) }
            }
        }
    }
}

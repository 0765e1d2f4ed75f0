import BrokerModel
import BrokerSocket
import BrokerTestSupport
import Foundation
import Testing

@Suite("Redirects as requests")
struct RedirectRequestTests {
    @Test("a redirect is passed on decoded, and the person gets the page with strict headers")
    func redirect() async throws {
        try await withRedirect { bed in
            let reply = try await bed.get("PATH?code=a%2Fb+c&state=x&iss=http%3A%2F%2Fidp")
            #expect(reply.status == 200)
            #expect(bed.seen.all.map(\.values) == [["code": "a/b c", "state": "x", "iss": "http://idp"]])
            #expect(reply.body.contains("You’re signed in"))
            #expect(!reply.body.contains("a/b"))
            #expect(reply.headers["content-type"] == "text/html; charset=utf-8")
            #expect(reply.headers["content-security-policy"] == PageTemplate.contentSecurityPolicy)
            #expect(reply.headers["cache-control"] == "no-store")
            #expect(reply.headers["referrer-policy"] == "no-referrer")
            #expect(reply.headers["x-content-type-options"] == "nosniff")
            #expect(reply.headers["x-frame-options"] == "DENY")
            #expect(reply.headers["connection"] == "close")
            #expect(reply.headers["content-length"] == "\(reply.body.utf8.count)")
        }
    }

    @Test("a parameter that occurs twice is marked as such")
    func repeated() async throws {
        try await withRedirect(answer: { $0.repeated.isEmpty ? .canceled(app: "a") : .notExpected }) { bed in
            let reply = try await bed.get("PATH?state=s&code=1&code=2")
            #expect(reply.status == 400)
            #expect(reply.body.contains("No sign-in is waiting"))
            #expect(bed.seen.all.first?.repeated == ["code"])
        }
    }

    @Test(
        "any other path is not found, and does not count as a redirect",
        arguments: [
            "/", "/callbac", "/callback/", "/callback/x", "//callback", "/Callback", "/%63allback", "/favicon.ico",
            "/x/../callback", "http://127.0.0.1/callback", "*", "/callback%3Fcode=1",
        ])
    func otherPaths(path: String) async throws {
        try await withRedirect { bed in
            let reply = try await bed.get(path + "?code=1&state=2")
            #expect(reply.status == 404)
            #expect(reply.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'")
            #expect(bed.seen.all.isEmpty)
        }
    }

    @Test("methods other than GET are refused", arguments: ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
    func otherMethods(method: String) async throws {
        try await withRedirect { bed in
            let reply = try await bed.exchange(
                "\(method) PATH?code=1 HTTP/1.1\r\nHost: HOST\r\nContent-Length: 6\r\n\r\ncode=1")
            #expect(reply.status == 405)
            #expect(reply.headers["allow"] == "GET, HEAD")
            #expect(bed.seen.all.isEmpty)
        }
    }

    @Test("HEAD reports the page without using the redirect up")
    func head() async throws {
        try await withRedirect { bed in
            let reply = try await bed.exchange("HEAD PATH?code=1 HTTP/1.1\r\nHost: HOST\r\n\r\n")
            #expect(reply.status == 204)
            #expect(reply.body.isEmpty)
            #expect(bed.seen.all.isEmpty)
        }
    }

    @Test(
        "a name other than loopback's leads nowhere, whatever it resolves to",
        arguments: [
            "Host: evil.example", "Host: evil.example:PORT", "Host: 127.0.0.1", "Host: 127.0.0.1.evil.example:PORT",
            "Host: 127.0.0.1:1", "Host: 127.0.0.1:PORT\r\nHost: evil.example", "Host:", "X-No-Host: at all",
        ])
    func otherHosts(line: String) async throws {
        try await withRedirect { bed in
            let host = line.replacingOccurrences(of: "PORT", with: "\(bed.port)")
            let reply = try await bed.exchange("GET PATH?code=1 HTTP/1.1\r\n\(host)\r\n\r\n")
            #expect([400, 421].contains(reply.status))
            #expect(bed.seen.all.isEmpty)
        }
    }

    @Test(
        "all names of loopback are accepted",
        arguments: ["127.0.0.1", "localhost", "LocalHost", "[::1]", "app.localhost"])
    func loopbackHosts(host: String) async throws {
        try await withRedirect { bed in
            let reply = try await bed.exchange("GET PATH?code=1 HTTP/1.1\r\nHost: \(host):\(bed.port)\r\n\r\n")
            #expect(reply.status == 200)
        }
    }

    @Test(
        "a page that makes the browser fetch the address as something else is no redirect",
        arguments: [
            "Sec-Fetch-Dest: image", "Sec-Fetch-Dest: iframe", "Sec-Fetch-Dest: empty", "Sec-Purpose: prefetch",
        ])
    func subresource(line: String) async throws {
        try await withRedirect { bed in
            let reply = try await bed.exchange("GET PATH?code=1 HTTP/1.1\r\nHost: HOST\r\n\(line)\r\n\r\n")
            #expect(reply.status == 403)
            #expect(bed.seen.all.isEmpty)
        }
    }

    @Test(
        "a request that is not HTTP is answered as such or closed, and later ones are served",
        arguments: [
            "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}garbage\r\n\r\n", "GET\r\n\r\n", "GET PATH HTTP/9.9\r\n\r\n",
            "\r\n\r\n\r\nnonsense\r\n\r\n",
            "GET PATH HTTP/1.1\r\nHost: HOST\r\nContent-Length: -1\r\n\r\n", "GET PATH HTTP/1.1\r\nHo st: HOST\r\n\r\n",
        ])
    func garbage(text: String) async throws {
        try await withRedirect { bed in
            let client = try bed.connect()
            try await client.send(bed.filled(text))
            let reply = Reply(try await client.readToEnd())
            #expect(reply == nil || reply?.status == 400)
            #expect(bed.seen.all.isEmpty)
            try await bed.expect(200, for: "PATH?code=1")
        }
    }

    @Test("a request may have 16 KiB, and further header bytes are not parsed")
    func tooLarge() async throws {
        try await withRedirect { bed in
            let code = String(repeating: "c", count: 15_000)
            try await bed.expect(200, for: "PATH?code=\(code)")
            #expect(bed.seen.all.first?["code"] == code)

            let client = try bed.connect()
            try await client.send(bed.filled("GET PATH?code=1 HTTP/1.1\r\nHost: HOST\r\nX: "))
            // It may have been cut off in the middle of this.
            try? await client.send(String(repeating: "x", count: 200_000))
            let reply = Reply(try await client.readToEnd())
            #expect(reply == nil || reply?.status == 431)
            #expect(bed.seen.all.count == 1)
        }
    }

    @Test("a second request on the same connection is not answered")
    func pipelining() async throws {
        try await withRedirect { bed in
            let one = "GET PATH?code=1 HTTP/1.1\r\nHost: HOST\r\n\r\n"
            let client = try bed.connect()
            try await client.send(bed.filled(one + one))
            let text = try await client.readToEnd()
            #expect(text.components(separatedBy: "HTTP/1.1 ").count == 2)
            #expect(bed.seen.all.count == 1)
        }
    }
}

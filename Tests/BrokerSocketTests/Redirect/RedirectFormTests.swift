import BrokerModel
import BrokerSocket
import BrokerTestSupport
import Foundation
import Testing

/// OAuth 2.0 Form Post Response Mode.
@Suite("Redirects as forms")
struct RedirectFormTests {
    private static let body = "code=a%2Fb+c&state=x"

    private func post(
        _ body: String = body, type: String = "application/x-www-form-urlencoded", _ more: String = ""
    ) -> String {
        "POST PATH HTTP/1.1\r\nHost: HOST\r\nOrigin: https://idp.example\r\nSec-Fetch-Site: cross-site\r\n\(more)"
            + "Content-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    @Test("a form is passed on decoded, whatever the query of its address")
    func form() async throws {
        try await withRedirect(takesForm: true) { (bed) async throws in
            let request = post(type: "Application/X-WWW-Form-Urlencoded; charset=UTF-8", "Sec-Fetch-Dest: document\r\n")
            let reply = try await bed.exchange(request.replacingOccurrences(of: "PATH ", with: "PATH?code=other "))
            #expect(reply.status == 200 && reply.body.contains("You’re signed in"))
            #expect(bed.seen.all.map(\.values) == [["code": "a/b c", "state": "x"]])
        }
    }

    @Test("a form that arrives in pieces is one form")
    func pieces() async throws {
        try await withRedirect(takesForm: true) { (bed) async throws in
            let client = try bed.connect()
            for byte in bed.filled(post()).utf8 { try await client.send([byte]) }
            #expect(Reply(try await client.readToEnd())?.status == 200)
            #expect(bed.seen.all.map(\.values) == [["code": "a/b c", "state": "x"]])
        }
    }

    @Test("a name that occurs twice in a form is marked as such")
    func repeated() async throws {
        try await withRedirect(takesForm: true) { (bed) async throws in
            _ = try await bed.exchange(post("state=s&code=1&code=2"))
            #expect(bed.seen.all.first?.repeated == ["code"])
        }
    }

    @Test("a redirect without a form is still accepted, as a provider may answer in the older way")
    func address() async throws {
        try await withRedirect(takesForm: true) { (bed) async throws in
            #expect(try await bed.get("PATH?error=access_denied&state=x").status == 200)
            #expect(bed.seen.all.map(\.values) == [["error": "access_denied", "state": "x"]])
        }
    }

    @Test("a form is refused if none was requested")
    func notAskedFor() async throws {
        try await withRedirect { (bed) async throws in
            #expect(try await bed.exchange(post()).status == 405)
            #expect(bed.seen.all.isEmpty)
        }
    }

    @Test(
        "a body that is not a browser's form is refused",
        arguments: [
            ("text/plain", "", 415), ("multipart/form-data; boundary=x", "", 415),
            ("application/x-www-form-urlencoded", "Sec-Fetch-Dest: iframe\r\n", 403),
            ("application/x-www-form-urlencoded", "Sec-Fetch-Dest: empty\r\n", 403),
            ("application/x-www-form-urlencoded", "Content-Type: text/plain\r\n", 415),
        ])
    func noForm(type: String, more: String, status: Int) async throws {
        try await withRedirect(takesForm: true) { (bed) async throws in
            #expect(try await bed.exchange(post(type: type, more)).status == status)
            #expect(bed.seen.all.isEmpty)
        }
    }

    @Test("a form that is too long is not read to its end")
    func tooLong() async throws {
        try await withRedirect(takesForm: true) { (bed) async throws in
            #expect(try await bed.exchange(post("code=" + String(repeating: "x", count: 20_000))).status == 413)
            #expect(bed.seen.all.isEmpty)
        }
    }
}

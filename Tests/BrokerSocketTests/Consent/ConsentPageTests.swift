import BrokerModel
import BrokerSocket
import BrokerTestSupport
import BrokerValues
import Foundation
import NIOPosix
import Testing

@Suite("The consent page")
struct ConsentPageTests {
    static let question = ConsentQuestion(
        caller: CallerIdentity(tier: .sandboxed, id: "org.example.<script>Game"),
        facts: ["rootMount": "other", "flatpak": "org.example.Game", "instance": "same"],
        requests: [
            .init(
                app: "mail", authority: "https://login.example.org/tenant", account: "ada@example.org",
                scopes: ["Mail.Read", "\"><b>"]),
            .init(app: "notes", account: nil, people: ["ada@example.org", "bob@example.org"], scopes: nil),
        ])

    struct Reply {
        var status: Int
        var headers: [String: String]
        var body: String

        /// The page's address and the browser's cookie; empty if it kept none.
        var address = ""
        var cookie = ""

        /// The form's hidden token.
        var token: String { String(body.firstMatch(of: /name="token" value="([^"]+)"/)?.1 ?? "") }
    }

    struct Bed {
        let url: String
        let answers: Recorder<ConsentAnswer>

        var origin: String { url.split(separator: "/").prefix(2).joined(separator: "//") }

        func ask(_ arguments: [String]) async throws -> Reply {
            try await withTestBed { bed in
                let result = try await bed.run(
                    Launch(
                        "curl",
                        ["--silent", "--noproxy", "*", "--include", "--max-time", "\(Int(usualPatience))"] + arguments))
                let parts = result.output.replacingOccurrences(of: "\r\n", with: "\n").split(
                    separator: "\n\n", maxSplits: 1, omittingEmptySubsequences: false)
                let lines = parts[0].split(separator: "\n")
                var headers: [String: String] = [:]
                for line in lines.dropFirst() {
                    let pair = line.split(separator: ":", maxSplits: 1)
                    headers[pair[0].lowercased()] = pair[1].trimmingCharacters(in: .whitespaces)
                }
                // The position of a line's end does not matter here.
                return Reply(
                    status: Int(lines.first?.split(separator: " ")[1] ?? "0") ?? 0, headers: headers,
                    body: parts.count > 1 ? parts[1].replacingOccurrences(of: "<wbr>", with: "") : "")
            }
        }

        /// Acts as a browser started with the address: it follows the redirect, and takes the cookie along.
        func open(keepsCookies: Bool = true) async throws -> Reply {
            let entered = try await ask([url])
            guard let place = entered.headers["location"] else { return entered }
            let cookie = String(entered.headers["set-cookie"]?.split(separator: ";").first ?? "")
            return try await load(origin + place, cookie: keepsCookies ? cookie : "")
        }

        func load(_ address: String, cookie: String) async throws -> Reply {
            var reply = try await ask((cookie.isEmpty ? [] : ["--header", "Cookie: a=b; \(cookie)"]) + [address])
            (reply.address, reply.cookie) = (address, cookie)
            return reply
        }

        func post(
            _ fields: String, on page: Reply, origin: String? = nil, _ more: [String] = []
        ) async throws -> Reply {
            var arguments = ["--data", fields, page.address]
            if !page.cookie.isEmpty { arguments += ["--header", "Cookie: \(page.cookie)"] }
            if let origin { arguments += ["--header", "Origin: \(origin)"] }
            for header in more { arguments += ["--header", header] }
            return try await ask(arguments)
        }
    }

    /// - Parameter wait: the delay of each answer before the page gets the result.
    func run(
        _ question: ConsentQuestion = question, wait: @escaping @Sendable () async -> Void = {},
        _ body: (Bed) async throws -> Void
    ) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let answers = Recorder<ConsentAnswer>()
        let pages = LoopbackConsentPages(on: group.next(), random: CountingRandom())
        let page = try await pages.open(question) { answer in
            answers.add(answer)
            await wait()
            return answer == .denied ? .denied : .allowed
        }
        do {
            try await body(Bed(url: page.url, answers: answers))
        } catch {
            await page.close()
            try? await group.shutdownGracefully()
            throw error
        }
        await page.close()
        try await group.shutdownGracefully()
    }

    @Test("the page says who asks, how that is known, for what and how long, and none of it is markup")
    func content() async throws {
        try await run { bed in
            let page = try await bed.open()
            #expect(page.status == 200)
            for text in [
                "org.example.&lt;script&gt;Game", "Its name was confirmed from outside", "mail", "ada@example.org",
                "<b><bdi>mail</bdi></b> at <b><bdi>example.org</bdi></b> (<bdi>https://login.example.org/tenant</bdi>)",
                "Mail.Read, &quot;&gt;&lt;b&gt;", "Everything that the app may", "for 12 hours", "for 30 days",
                "until I take it back", "As <b><bdi>ada@example.org</bdi></b>",
                "With every account it has: <b><bdi>ada@example.org</bdi></b>, <b><bdi>bob@example.org</bdi></b>",
                "<dt title=\"rootMount\">Files that it sees</dt><dd><bdi>different from yours</bdi></dd>",
                "<dt title=\"flatpak\">Flatpak app</dt><dd><bdi>org.example.Game</bdi></dd>",
                // The value was chosen by a launcher, so it is not described.
                "<dt title=\"instance\">Which run of the sandbox</dt><dd><bdi>same</bdi></dd>",
            ] {
                #expect(page.body.contains(text), "\(text)")
            }
            let deny = try #require(page.body.range(of: "value=\"deny\""))
            #expect(page.body.range(of: "value=\"allow\"")?.lowerBound ?? deny.lowerBound > deny.lowerBound)
            #expect(!page.body.contains("<script") && !page.body.contains("autofocus"))
        }
    }

    @Test("the provider's domain precedes the program's own name, however long that is")
    func authority() async throws {
        let id = "notes https://login.example.org/ " + String(repeating: "x", count: 160)
        try await run(LongQuestion.client(id)) { bed in
            let page = try await bed.open().body
            let place = try #require(page.range(of: "<bdi>evil.example</bdi>"))
            let whole = try #require(page.range(of: "(<bdi>https://login.example.org.evil.example/tenant</bdi>)"))
            let name = try #require(page.range(of: "<bdi>\(id)</bdi>"))
            #expect(place.lowerBound < whole.lowerBound && whole.lowerBound < name.lowerBound)
        }
    }

    @Test("a shortened question cannot be allowed, by no button and by no form", arguments: LongQuestion.tooLong)
    func cut(question: ConsentQuestion) async throws {
        try await run(question) { bed in
            let page = try await bed.open()
            #expect(page.body.contains("…") && page.body.contains("cannot be allowed here"))
            #expect(page.body.contains("value=\"deny\"") && !page.body.contains("value=\"allow\""))
            let reply = try await bed.post("token=\(page.token)&answer=allow&for=today", on: page, origin: bed.origin)
            #expect(reply.status == 403 && bed.answers.all.isEmpty)
            _ = try await bed.post("token=\(page.token)&answer=deny", on: page, origin: bed.origin)
            #expect(bed.answers.all == [.denied])
        }
    }

    @Test("the longest permitted question is shown whole")
    func longest() async throws {
        let scopes = (0..<40).map { "https://api.example.org/\($0 + 10)/" + String(repeating: "s", count: 21) }
        try await run(LongQuestion.client(String(repeating: "x", count: QuestionLimits.clientID), scopes: scopes)) {
            bed in
            let page = try await bed.open().body
            #expect(page.contains(scopes.joined(separator: ", ")) && page.contains("value=\"allow\""))
        }
    }

    @Test("no other page can frame it, script it, learn its address or keep it")
    func headers() async throws {
        try await run { bed in
            let page = try await bed.open()
            let policy = page.headers["content-security-policy"] ?? ""
            for rule in ["default-src 'none'", "frame-ancestors 'none'", "form-action 'self'", "base-uri 'none'"] {
                #expect(policy.contains(rule))
            }
            #expect(!policy.contains("script-src"))
            #expect(page.headers["x-frame-options"] == "DENY" && page.headers["cache-control"] == "no-store")
            #expect(page.headers["cross-origin-opener-policy"] == "same-origin")
            #expect(page.headers["referrer-policy"] == "same-origin" && page.headers["set-cookie"] == nil)
        }
    }

    @Test("a sandbox without a name is offered half a day only")
    func unnamed() async throws {
        var question = Self.question
        question.caller.id = "container:session-3.scope"
        try await run(question) { bed in
            let page = try await bed.open()
            #expect(page.body.contains("for 12 hours") && !page.body.contains("for 30 days"))
        }
    }

    @Test(
        "the page's own form is an answer, once",
        arguments: [
            ("answer=allow&for=month", ConsentAnswer.allowed(lifetime: 30 * 86_400)),
            ("answer=allow&for=always", .allowed(lifetime: nil)), ("answer=deny&for=today", .denied),
        ])
    func answered(fields: String, answer: ConsentAnswer) async throws {
        try await run { bed in
            let page = try await bed.open()
            let reply = try await bed.post(
                "token=\(page.token)&\(fields)", on: page, origin: bed.origin, ["Sec-Fetch-Site: same-origin"])
            #expect(reply.status == 200 && bed.answers.all == [answer])
            let again = try await bed.post("token=\(page.token)&\(fields)", on: page, origin: bed.origin)
            #expect(again.body.contains("It was answered before.") && bed.answers.all.count == 1)
        }
    }

    @Test("an answer that takes longer than a request may take is still shown")
    func slowAnswer() async throws {
        let gate = Gate()
        try await run(wait: { await gate.wait() }) { bed in
            let page = try await bed.open()
            async let reply = bed.post("token=\(page.token)&answer=deny", on: page, origin: bed.origin)
            try await gate.waitForCallers()
            // A connection younger than the answer's has had its whole time for a request.
            let port = try #require(URL(string: bed.url)?.port.map { UInt16($0) })
            let silent = try LineClient.connect(toPort: port)
            #expect(try await silent.readToEnd() == "")
            await silent.close()
            gate.open()
            #expect(try await reply.body.contains("Denied"))
        }
    }

    @Test("an answer not sent by the page does not count")
    func forged() async throws {
        try await run { bed in
            let page = try await bed.open()
            let good = "token=\(page.token)&answer=allow&for=always"
            #expect(try await bed.post(good, on: page).status == 403)
            #expect(try await bed.post(good, on: page, origin: "null").status == 403)
            #expect(try await bed.post(good, on: page, origin: "http://evil.example").status == 403)
            #expect(
                try await bed.post(good, on: page, origin: bed.origin, ["Sec-Fetch-Site: cross-site"]).status == 403)
            #expect(try await bed.post(good, on: page, origin: bed.origin, ["Content-Type: text/plain"]).status == 403)
            #expect(try await bed.post("token=x&answer=allow&for=always", on: page, origin: bed.origin).status == 403)
            #expect(try await bed.post(good + "&answer=deny", on: page, origin: bed.origin).status == 403)
            #expect(
                try await bed.post("token=\(page.token)&answer=allow&for=ever", on: page, origin: bed.origin).status
                    == 400)
            var other = page
            other.cookie = ""
            #expect(try await bed.post(good, on: other, origin: bed.origin).status == 403)
            other.address = bed.url
            #expect(try await bed.post(good, on: other, origin: bed.origin).status == 405)
            #expect(bed.answers.all.isEmpty)
            #expect(try await bed.post(good, on: page, origin: bed.origin).status == 200)
        }
    }

    @Test("a wrong path and another host name lead nowhere")
    func address() async throws {
        try await run { (bed) async throws in
            #expect(try await bed.ask([bed.origin + "/"]).status == 404)
            #expect(try await bed.ask(["--header", "Host: evil.example", bed.url]).status == 421)
            #expect(try await bed.ask(["--header", "Sec-Fetch-Dest: iframe", bed.url]).status == 403)
            #expect(try await bed.ask(["--header", "Sec-Fetch-Site: cross-site", bed.url]).status == 403)
            #expect(try await bed.ask(["--request", "PUT", bed.url]).status == 405)
            #expect(try await bed.open().status == 200)
        }
    }

    @Test("an address opened twice withdraws the question, as the first visitor is unknown")
    func twice() async throws {
        try await run { bed in
            let page = try await bed.open()
            let second = try await bed.open()
            #expect(second.body.contains("opened twice") && second.token.isEmpty)
            let reply = try await bed.post("token=\(page.token)&answer=allow&for=today", on: page, origin: bed.origin)
            #expect(reply.body.contains("opened twice") && bed.answers.all.isEmpty)
        }
    }

    @Test("the browser that has the page may load it again, and then answer")
    func again() async throws {
        try await run { bed in
            let page = try await bed.open()
            for _ in 0..<3 {
                #expect(try await bed.load(page.address, cookie: page.cookie).token == page.token)
            }
            let answer = "token=\(page.token)&answer=allow&for=today"
            #expect(try await bed.post(answer, on: page, origin: bed.origin).status == 200)
            #expect(bed.answers.all == [.allowed(lifetime: 12 * 3600)])
            let over = try await bed.load(page.address, cookie: page.cookie)
            #expect(over.body.contains("It was answered before."))
        }
    }

    @Test("a request for the page without the browser's cookie gets nothing and withdraws the question")
    func withoutCookie() async throws {
        for keepsCookies in [true, false] {
            try await run { bed in
                let page = try await bed.open(keepsCookies: keepsCookies)
                #expect(!page.token.isEmpty)
                let second = try await bed.load(page.address, cookie: "token-broker=x")
                #expect(second.body.contains("opened twice") && second.token.isEmpty)
                let reply = try await bed.post(
                    "token=\(page.token)&answer=allow&for=today", on: page, origin: bed.origin)
                #expect(reply.body.contains("opened twice") && bed.answers.all.isEmpty)
            }
        }
    }

    @Test("the cookie goes to the page alone, not to its first address or another page of this machine")
    func cookie() async throws {
        try await run { bed in
            let entered = try await bed.ask([bed.url])
            let place = try #require(entered.headers["location"])
            let cookie = try #require(entered.headers["set-cookie"])
            #expect(entered.status == 303 && entered.headers["referrer-policy"] == "no-referrer")
            #expect(!bed.url.hasSuffix(place) && place.count == 44)
            #expect(cookie.hasSuffix("; Path=\(place); HttpOnly; SameSite=Strict"), "\(cookie)")
        }
    }

    @Test(
        "connections without a whole request that take all slots make room for a browser with one",
        arguments: ["", "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n\r\n"])
    func silentVisitors(begun: String) async throws {
        try await run { (bed) async throws in
            let port = try #require(URL(string: bed.url)?.port.map { UInt16($0) })
            var silent: [LineClient] = []
            for _ in 0..<40 {
                let visitor = try LineClient.connect(toPort: port)
                if !begun.isEmpty { try await visitor.send(begun) }
                silent.append(visitor)
            }
            let page = try await bed.open()
            #expect(page.status == 200 && !page.token.isEmpty)
            for client in silent { await client.close() }
        }
    }

    @Test("a request that is too long is not read to its end")
    func tooLong() async throws {
        try await run { bed in
            let page = try await bed.open()
            let reply = try await bed.post(
                "token=" + String(repeating: "x", count: 20_000), on: page, origin: bed.origin)
            #expect(reply.status == 413 && bed.answers.all.isEmpty)
        }
    }

    @Test("the policy names the style sheet's hash")
    func style() async throws {
        try await withTestBed { bed in
            let result = try await bed.run(
                Launch("sh", ["-c", "openssl dgst -sha256 -binary | openssl base64 -A"]), input: ConsentStyle.sheet)
            #expect(result.output == ConsentStyle.hash)
        }
    }
}

/// Questions at or beyond the length that a page shows.
enum LongQuestion {
    /// A question with its own client.
    static func client(_ id: String, scopes: [String] = ["read"]) -> ConsentQuestion {
        ConsentQuestion(
            caller: CallerIdentity(tier: .sandboxed, id: "org.example.Game"), facts: [:],
            requests: [
                .init(
                    app: "adhoc:\(id) https://a.evil.example in org.example.Game", clientID: id,
                    authority: "https://login.example.org.evil.example/tenant", account: nil, scopes: scopes)
            ])
    }

    static let tooLong: [ConsentQuestion] = [
        client(String(repeating: "x", count: 1_001)),
        client("notes", scopes: Array(repeating: "scope", count: 400)),
        ConsentQuestion(
            caller: CallerIdentity(tier: .unknown, id: "/" + String(repeating: "x", count: 1_000)), facts: [:],
            requests: ConsentPageTests.question.requests),
        ConsentQuestion(
            caller: ConsentPageTests.question.caller, facts: ["cgroup": String(repeating: "x", count: 1_001)],
            requests: ConsentPageTests.question.requests),
    ]
}

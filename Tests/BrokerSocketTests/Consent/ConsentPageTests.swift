import BrokerModel
import BrokerSocket
import BrokerTestSupport
import BrokerValues
import Foundation
import NIOPosix
import Testing

@Suite("The page that asks a person")
struct ConsentPageTests {
    static let question = ConsentQuestion(
        caller: CallerIdentity(tier: .sandboxed, id: "org.example.<script>Game"),
        facts: ["rootMount": "other", "flatpak": "org.example.Game"],
        requests: [
            .init(
                app: "mail", authority: "https://login.example.org/tenant", account: "ada@example.org",
                scopes: ["Mail.Read", "\"><b>"]),
            .init(app: "notes", account: nil, scopes: nil),
        ])

    struct Reply {
        var status: Int
        var headers: [String: String]
        var body: String

        /// What the form sends along.
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
                return Reply(
                    status: Int(lines.first?.split(separator: " ")[1] ?? "0") ?? 0, headers: headers,
                    body: parts.count > 1 ? String(parts[1]) : "")
            }
        }

        func post(_ fields: String, origin: String? = nil, _ more: [String] = []) async throws -> Reply {
            var arguments = ["--data", fields, url]
            if let origin { arguments += ["--header", "Origin: \(origin)"] }
            for header in more { arguments += ["--header", header] }
            return try await ask(arguments)
        }
    }

    /// - Parameter wait: what each answer waits for before the page is told.
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

    @Test("it says who asks, how that is known, for what and for how long; nothing of it is taken for markup")
    func content() async throws {
        try await run { bed in
            let page = try await bed.ask([bed.url])
            #expect(page.status == 200)
            for text in [
                "org.example.&lt;script&gt;Game", "Its name was confirmed from outside", "mail", "ada@example.org",
                "<b><bdi>mail</bdi></b> at <b><bdi>example.org</bdi></b> (<bdi>https://login.example.org/tenant</bdi>)",
                "Mail.Read, &quot;&gt;&lt;b&gt;", "Everything that the app may", "for 12 hours", "for 30 days",
                "until I take it back", "rootMount",
            ] {
                #expect(page.body.contains(text), "\(text)")
            }
            let deny = try #require(page.body.range(of: "value=\"deny\""))
            #expect(page.body.range(of: "value=\"allow\"")?.lowerBound ?? deny.lowerBound > deny.lowerBound)
            #expect(!page.body.contains("<script") && !page.body.contains("autofocus"))
        }
    }

    @Test("whose client it is stands before what the program calls itself, however long that is")
    func authority() async throws {
        let id = "notes https://login.example.org/ " + String(repeating: "x", count: 160)
        try await run(LongQuestion.client(id)) { bed in
            let page = try await bed.ask([bed.url]).body
            let place = try #require(page.range(of: "<bdi>evil.example</bdi>"))
            let whole = try #require(page.range(of: "(<bdi>https://login.example.org.evil.example/tenant</bdi>)"))
            let name = try #require(page.range(of: "<bdi>\(id)</bdi>"))
            #expect(place.lowerBound < whole.lowerBound && whole.lowerBound < name.lowerBound)
        }
    }

    @Test("what had to be cut cannot be allowed, by no button and by no form", arguments: LongQuestion.tooLong)
    func cut(question: ConsentQuestion) async throws {
        try await run(question) { bed in
            let page = try await bed.ask([bed.url])
            #expect(page.body.contains("…") && page.body.contains("cannot be allowed here"))
            #expect(page.body.contains("value=\"deny\"") && !page.body.contains("value=\"allow\""))
            let reply = try await bed.post("token=\(page.token)&answer=allow&for=today", origin: bed.origin)
            #expect(reply.status == 403 && bed.answers.all.isEmpty)
            _ = try await bed.post("token=\(page.token)&answer=deny", origin: bed.origin)
            #expect(bed.answers.all == [.denied])
        }
    }

    @Test("as much as may be asked is shown whole")
    func longest() async throws {
        let scopes = (0..<40).map { "https://api.example.org/\($0 + 10)/" + String(repeating: "s", count: 21) }
        try await run(LongQuestion.client(String(repeating: "x", count: QuestionLimits.clientID), scopes: scopes)) {
            bed in
            let page = try await bed.ask([bed.url]).body
            #expect(page.contains(scopes.joined(separator: ", ")) && page.contains("value=\"allow\""))
        }
    }

    @Test("no other page can frame it, script it, learn its address or keep it")
    func headers() async throws {
        try await run { bed in
            let page = try await bed.ask([bed.url])
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
            let page = try await bed.ask([bed.url])
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
            let token = try await bed.ask([bed.url]).token
            let reply = try await bed.post(
                "token=\(token)&\(fields)", origin: bed.origin, ["Sec-Fetch-Site: same-origin"])
            #expect(reply.status == 200 && bed.answers.all == [answer])
            let again = try await bed.post("token=\(token)&\(fields)", origin: bed.origin)
            #expect(again.body.contains("It was answered before.") && bed.answers.all.count == 1)
        }
    }

    @Test("an answer that takes longer than a request may take is told all the same")
    func slowAnswer() async throws {
        let gate = Gate()
        try await run(wait: { await gate.wait() }) { bed in
            let token = try await bed.ask([bed.url]).token
            async let reply = bed.post("token=\(token)&answer=deny", origin: bed.origin)
            try await gate.waitForCallers()
            // A connection that is younger than the answer's has had all its time for a request.
            let port = try #require(URL(string: bed.url)?.port.map { UInt16($0) })
            let silent = try LineClient.connect(toPort: port)
            #expect(try await silent.readToEnd() == "")
            await silent.close()
            gate.open()
            #expect(try await reply.body.contains("Denied"))
        }
    }

    @Test("an answer that the page did not send counts for nothing")
    func forged() async throws {
        try await run { bed in
            let page = try await bed.ask([bed.url])
            let good = "token=\(page.token)&answer=allow&for=always"
            #expect(try await bed.post(good).status == 403)
            #expect(try await bed.post(good, origin: "null").status == 403)
            #expect(try await bed.post(good, origin: "http://evil.example").status == 403)
            #expect(try await bed.post(good, origin: bed.origin, ["Sec-Fetch-Site: cross-site"]).status == 403)
            #expect(try await bed.post(good, origin: bed.origin, ["Content-Type: text/plain"]).status == 403)
            #expect(try await bed.post("token=x&answer=allow&for=always", origin: bed.origin).status == 403)
            #expect(try await bed.post(good + "&answer=deny", origin: bed.origin).status == 403)
            #expect(try await bed.post("token=\(page.token)&answer=allow&for=ever", origin: bed.origin).status == 400)
            #expect(bed.answers.all.isEmpty)
            #expect(try await bed.post(good, origin: bed.origin).status == 200)
        }
    }

    @Test("without the address there is nothing, and another name that leads here is none")
    func address() async throws {
        try await run { (bed) async throws in
            #expect(try await bed.ask([bed.origin + "/"]).status == 404)
            #expect(try await bed.ask(["--header", "Host: evil.example", bed.url]).status == 421)
            #expect(try await bed.ask(["--header", "Sec-Fetch-Dest: iframe", bed.url]).status == 403)
            #expect(try await bed.ask(["--header", "Sec-Fetch-Site: cross-site", bed.url]).status == 403)
            #expect(try await bed.ask(["--request", "PUT", bed.url]).status == 405)
            #expect(try await bed.ask([bed.url]).status == 200)
        }
    }

    @Test("a page that is opened twice is nobody's: who was first cannot be told, and no answer counts any more")
    func twice() async throws {
        try await run { bed in
            let token = try await bed.ask([bed.url]).token
            let second = try await bed.ask([bed.url])
            #expect(second.body.contains("opened twice") && second.token.isEmpty)
            let reply = try await bed.post("token=\(token)&answer=allow&for=today", origin: bed.origin)
            #expect(reply.body.contains("opened twice") && bed.answers.all.isEmpty)
        }
    }

    @Test("whoever takes all places and asks nothing makes room for a browser that asks")
    func silentVisitors() async throws {
        try await run { (bed) async throws in
            let port = try #require(URL(string: bed.url)?.port.map { UInt16($0) })
            var silent: [LineClient] = []
            for _ in 0..<40 { silent.append(try LineClient.connect(toPort: port)) }
            let page = try await bed.ask([bed.url])
            #expect(page.status == 200 && !page.token.isEmpty)
            for client in silent { await client.close() }
        }
    }

    @Test("a request that is too long is not read to its end")
    func tooLong() async throws {
        try await run { bed in
            let reply = try await bed.post("token=" + String(repeating: "x", count: 20_000), origin: bed.origin)
            #expect(reply.status == 413 && bed.answers.all.isEmpty)
        }
    }

    @Test("the style sheet is the one that the policy names")
    func style() async throws {
        try await withTestBed { bed in
            let result = try await bed.run(
                Launch("sh", ["-c", "openssl dgst -sha256 -binary | openssl base64 -A"]), input: ConsentStyle.sheet)
            #expect(result.output == ConsentStyle.hash)
        }
    }
}

/// Questions that are long, or longer than a page shows.
enum LongQuestion {
    /// One that brings its own client.
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

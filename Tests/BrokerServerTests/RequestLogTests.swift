import BrokerModel
import BrokerRPC
import BrokerServer
import BrokerTestSupport
import BrokerValues
import Testing

/// The journal's entries for requests, as `journalctl --user-unit brokerd` shows them.
@Suite("The log of requests")
struct RequestLogTests {
    /// The entries at this level while the body runs; Ann is signed in to `mail` at its start.
    private func told(at level: String, _ body: (ServerBed, LineClient) async throws -> Void) async throws -> [String] {
        try await collected(body).lines.filter { $0.hasPrefix("\(level) ") }
    }

    private func collected(_ body: (ServerBed, LineClient) async throws -> Void) async throws -> LogCollector {
        let log = LogCollector()
        try await ServerBed.run(log: log.logger) { server in
            try await server.register("mail")
            try await server.signIn("ann", to: "mail")
            try await body(server, try await server.connect())
        }
        return log
    }

    private func refreshing(_ correlationID: String) -> AcquireTokenSilent.Params {
        var params = AcquireTokenSilent.Params.of("mail")
        params.forceRefresh = true
        params.correlationId = correlationID
        return params
    }

    /// Sends a request that is refused.
    private func refused(_ client: LineClient, _ params: AcquireTokenSilent.Params) async throws {
        #expect(try await client.refusal(of: AcquireTokenSilent.self, params) != nil)
    }

    @Test("an entry names the door by which its request came, unless it is the broker's own socket")
    func doors() async throws {
        for (door, names) in [(Door.socket, []), (.oidcAgent, [Door.oidcAgent.rawValue])] {
            let log = LogCollector()
            try await ServerBed.run(
                log: log.logger, front: { SingleRequestFront(base: $0, others: Tally(), door: door) }
            ) { try await $0.register("mail") }
            #expect(log.text.contains("app mail was registered"))
            #expect(Set(log.values(of: "door")) == Set(names))
        }
    }

    @Test("a sign-in, a refresh and a sign-out are one sentence each, with caller, app, action and time")
    func sentences() async throws {
        let log = try await collected { _, client in
            let token = try await client.call(AcquireTokenSilent.self, refreshing("req-7"))
            // By its id, as brokerctl does: the entry has the name all the same.
            var params = SignOutAccount.Params(.id(token.account.id))
            params.selection.app = "mail"
            _ = try await client.call(SignOutAccount.self, params)
        }
        let end = "(0.00 s, correlation id "
        for sentence in [
            ": app mail was registered at https://login.example \(end)",
            " as mail: ann signed in at login.example \(end)",
            " as mail: the token of ann was refreshed at login.example \(end)req-7) ",
            " as mail: ann signed out (this app done) \(end)",
        ] {
            #expect(log.lines.count { $0.hasPrefix("info ") && $0.contains(sentence) } == 1, "\(sentence)\n\(log.text)")
        }
        #expect(log.values(of: "correlation_id").contains("req-7"))
        #expect(log.values(of: "app").contains("mail") && log.values(of: "account").contains("ann"))
        #expect(log.values(of: "duration_ms").contains("0"))
    }

    @Test("a refresh is logged once, however often its caller waits for it, and again for another caller")
    func joined() async throws {
        let lines = try await told(at: "info") { server, client in
            server.provider.refreshGate.close()
            for id in 1...20 { try await client.send(AcquireTokenSilent.requestLine(id: Int64(id), refreshing("r"))) }
            try await eventually("the provider is asked") { !server.provider.refreshes.isEmpty }
            server.provider.refreshGate.open()
            for _ in 1...20 {
                #expect(try Token(reading: try await client.readResult()).accessToken == "at-2")
            }
            _ = try await client.call(AcquireTokenSilent.self, refreshing("next"))
        }
        #expect(lines.count { $0.contains("was refreshed") } == 2, "\(lines)")
    }

    @Test("cached tokens and listings are logged at the debug level only")
    func routine() async throws {
        let log = try await collected { _, client in
            _ = try await client.call(AcquireTokenSilent.self, .of("mail"))
            _ = try await client.call(ListApps.self, .init())
        }
        let after = log.lines.drop { !$0.contains("signed in") }.dropFirst()
        #expect(after.allSatisfy { $0.hasPrefix("debug ") } && after.contains { $0.contains("a token from the cache") })
    }

    @Test("a failure's entry has the message, the kind and the provider's own words, made safe")
    func failure() async throws {
        let lines = try await told(at: "info") { server, client in
            server.provider.whenRedeeming { _ throws(ProviderError) in
                throw .refused(
                    OAuthRefusal(
                        error: "invalid_grant", subError: "bad_token",
                        description: "AADSTS50173: The grant\u{1B}[31m has\nexpired."
                            + String(repeating: "x", count: 900),
                        status: 400))
            }
            try await refused(client, refreshing("req-8"))
        }
        let line = try #require(lines.last)
        #expect(line.contains("token.acquireSilent failed (interactionRequired, refreshTokenRevoked): "), "\(line)")
        #expect(line.contains("The provider said: invalid_grant, bad_token, AADSTS50173: The grant"), "\(line)")
        #expect(line.contains("correlation id req-8)") && !line.contains("\u{1B}") && !line.contains("\n"))
        #expect(!line.contains(String(repeating: "x", count: 400)))
    }

    @Test("the same failure of the same caller is logged once a minute, with the number of omitted ones")
    func repeated() async throws {
        var params = AcquireTokenSilent.Params.of("mail", ["other"])
        params.query.account = .username("nobody")
        let wanted = params
        let lines = try await told(at: "info") { server, client in
            for _ in 1...5 { try await refused(client, wanted) }
            try await refused(client, .of("unknown"))
            server.clock.advance(bySeconds: 61)
            try await refused(client, wanted)
        }
        let failures = lines.filter { $0.contains("failed") }
        #expect(failures.count == 3, "\(failures)")
        #expect(failures.last?.contains("The same 4 times before") == true, "\(failures)")
    }

    @Test("wrong params and unknown methods are logged, too")
    func nonsense() async throws {
        let lines = try await told(at: "info") { _, client in
            _ = try await client.refusal(#"{"jsonrpc":"2.0","id":1,"method":"no.such"}"#)
            _ = try await client.refusal(#"{"jsonrpc":"2.0","id":1,"method":"apps.list","params":{"x":1}}"#)
        }
        #expect(lines.contains { $0.contains("a request was refused: This broker has no method \"no.such\"") })
        #expect(lines.contains { $0.contains("apps.list was refused: The param \"x\"") })
    }

    @Test("a caller that repeats invalid requests does not fill the journal")
    func nonsenseAgain() async throws {
        let lines = try await told(at: "info") { server, client in
            for number in 1...5 {
                _ = try await client.refusal(#"{"jsonrpc":"2.0","id":1,"method":"no.such\#(number)"}"#)
            }
            server.clock.advance(bySeconds: 61)
            _ = try await client.refusal(#"{"jsonrpc":"2.0","id":1,"method":"no.such"}"#)
        }
        let refused = lines.filter { $0.contains("was refused") }
        #expect(refused.count == 2, "\(refused)")
        #expect(refused.last?.contains("The same 4 times before") == true, "\(refused)")
    }

    @Test("a cancellation that ended nothing is logged at the debug level only, and is not audited")
    func canceledNothing() async throws {
        let lines = try await told(at: "info") { _, client in
            for number in 1...20 {
                let answer = try await client.call(CancelInteraction.self, .init(interactionId: "made-up-\(number)"))
                #expect(!answer.cancelled)
            }
            let log = try await client.call(ListAudit.self, .init())
            #expect(!log.entries.contains { $0.method == CancelInteraction.name })
        }
        #expect(!lines.contains { $0.contains(CancelInteraction.name) })
    }

    @Test("the same success without words of its own is logged once a minute, with the number of omitted ones")
    func repeatedSuccess() async throws {
        let lines = try await told(at: "info") { server, client in
            func cancelOne() async throws {
                try await client.send(
                    AcquireTokenInteractive.requestLine(id: 7, .init(.registered("mail"), scopes: ["read"])))
                let opening = try await client.readOpening()
                let other = try await server.connect()
                let cancel = CancelInteraction.Params(interactionId: opening.interactionID)
                #expect(try await other.call(CancelInteraction.self, cancel).cancelled)
                #expect(try await client.readRefusal() != nil)
            }
            for _ in 1...3 { try await cancelOne() }
            server.clock.advance(bySeconds: 61)
            try await cancelOne()
            // Each is counted in the audit log.
            let log = try await client.call(ListAudit.self, .init())
            #expect(log.entries.filter { $0.method == CancelInteraction.name }.reduce(0) { $0 + $1.count } == 4)
        }
        let cancellations = lines.filter { $0.contains(": \(CancelInteraction.name)") }
        #expect(cancellations.count == 2, "\(cancellations)")
        #expect(cancellations.last?.contains("\(CancelInteraction.name). The same 2 times before") == true)
    }

    /// The journal's entries for Ann's sign-in, refresh, failures and sign-out with names in a style.
    private func named(_ style: JournalNames.Style) async throws -> LogCollector {
        let log = LogCollector()
        try await ServerBed.run(names: style, log: log.logger) { server in
            try await server.register("mail")
            for name in ["ann", "bob"] { try await server.signIn(name, to: "mail") }
            let client = try await server.connect()
            _ = try await client.refusal(of: AcquireTokenSilent.self, AcquireTokenSilent.Params.of("mail"))
            var params = refreshing("req-9")
            params.query.account = .username("Ann")
            _ = try await client.call(AcquireTokenSilent.self, params)
            server.provider.whenRedeeming { _ throws(ProviderError) in
                throw .refused(OAuthRefusal(error: "invalid_scope", description: "not for ann", status: 400))
            }
            _ = try await client.refusal(of: AcquireTokenSilent.self, params)
            for name in ["ann", "bob"] {
                var params = SignOutAccount.Params(.username(name))
                params.selection.app = "mail"
                _ = try await client.call(SignOutAccount.self, params)
            }
        }
        return log
    }

    @Test("log.names decides whether people are named in full, by a stable hash, or not at all")
    func names() async throws {
        let plain = try await named(.plain)
        #expect(plain.text.contains(": ann signed in at") && plain.text.contains("not for ann"))
        let hashed = try await named(.hashed)
        let words = hashed.text.matches(of: /person:([0-9a-f]{12})/).map { String($0.1) }
        #expect(Set(words).count == 2, "\(hashed.text)")
        let none = try await named(.none)
        #expect(none.text.contains(": (name withheld) signed in at"))
        for log in [hashed, none] {
            for name in ["ann", "Ann", "bob"] {
                let isThere = log.text.split(whereSeparator: { !$0.isLetter }).contains { $0 == name }
                #expect(!isThere, "\(name): \(log.text)")
                #expect(!log.values(of: "account").contains(name))
            }
        }
        #expect(hashed.text.contains("failed (ambiguousAccount)"))
    }

    @Test("the hash of a name differs between installations, so it cannot be looked up")
    func hashedByInstallation() async throws {
        func words() async throws -> Set<String> {
            Set(try await named(.hashed).text.matches(of: /person:([0-9a-f]{12})/).map { String($0.1) })
        }
        #expect(try await words().isDisjoint(with: try await words()))
    }
}

import BrokerTestSupport
import Testing

@Suite("brokerctl audit")
struct AuditCommandTests {
    private static let entries = #"""
        [{"sequence":1,"time":1000,"count":1,"method":"broker.start","outcome":"done","reason":"interrupted","door":"socket"},
        {"sequence":2,"time":2000,"count":12,"caller":{"tier":"systemInstalled","id":"/usr/bin/\u001b[31mgit"},
        "facts":{"rootMount":"same"},"method":"token.acquireSilent","app":"mail","account":"account-0",
        "scopes":["a","b"],"outcome":"cached","correlationId":"c-1","door":"oidc-agent"}]
        """#.replacing("\n", with: "")

    private func broker(intact: Bool, completeSince: Int? = nil) throws -> ScriptedBroker {
        let since = completeSince.map { #","completeSince":\#($0)"# } ?? ""
        return try ScriptedBroker.answering { request in
            request.method == "audit.list"
                ? #"{"entries":\#(request.params.contains("before") ? "[]" : Self.entries),"intact":\#(intact)\#(since)}"#
                : #"{"accounts":[\#(ScriptedAnswers.account())]}"#
        }
    }

    @Test("each entry shows caller, method, count and scopes, made safe, in 80 columns")
    func told() async throws {
        let broker = try broker(intact: true)
        let result = try await brokerctl(["audit", "--facts"], at: broker.path)
        #expect(result.status == .exited(0), "\(result)")
        for text in [
            "broker.start", "done", "reason interrupted", "the broker itself", "token.acquireSilent", "cached", "12",
            "mail",
            "caller /usr/bin/[31mgit (systemInstalled)", "for a b", "correlation id c-1", "rootMount=same",
            "by oidc-agent",
        ] {
            #expect(result.output.contains(text), "\(text) in \(result.output)")
        }
        #expect(!result.output.contains("by socket"))
        for line in result.lines { #expect(line.count <= 80, "\(line)") }
    }

    @Test("a person who has signed out since is shown by name, too")
    func signedOut() async throws {
        let entry =
            #"{"sequence":2,"time":2000,"count":1,"method":"token.acquireSilent","app":"mail","account":"acc-1","#
            + #""scopes":["a"],"outcome":"cached"}"#
        let broker = try ScriptedBroker.answering { request in
            let isAll = request.params.contains(#""includeSignedOut":true"#)
            let entries = request.params.contains("before") ? "[]" : "[\(entry)]"
            return request.method == "audit.list"
                ? #"{"entries":\#(entries),"intact":true}"#
                : #"{"accounts":[\#(isAll ? ScriptedAnswers.account(signedIn: false) : "")]}"#
        }
        let result = try await brokerctl(["audit"], at: broker.path)
        #expect(result.output.contains("a token of ada@example.org for a"), "\(result)")
    }

    @Test("a broken log is reported after its entries, with exit status 1")
    func notIntact() async throws {
        let broker = try broker(intact: false)
        let result = try await brokerctl(["audit"], at: broker.path)
        #expect(result.status == .exited(1) && result.output.contains("token.acquireSilent"))
        #expect(result.errors.contains("was changed, or a part of it was removed"))
        let json = try await brokerctl(["audit", "--json"], at: broker.path)
        #expect(json.status == .exited(1) && json.output.contains(#""intact":false"#) && json.lines.count == 1)
    }

    @Test("a note and the JSON give the time before which newer entries displaced older ones")
    func incomplete() async throws {
        let broker = try broker(intact: true, completeSince: 1500)
        let result = try await brokerctl(["audit"], at: broker.path)
        #expect(result.status == .exited(0) && result.errors.contains("were pushed out by newer ones"))
        let json = try await brokerctl(["audit", "--json"], at: broker.path)
        #expect(json.output.contains(#""completeSince":1500"#))
        let complete = try self.broker(intact: true, completeSince: 1000)
        let whole = try await brokerctl(["audit"], at: complete.path)
        #expect(whole.status == .exited(0) && whole.errors == "")
    }

    @Test("an invalid limit or time is a usage error", arguments: [["--limit", "0"], ["--since", "soon"]])
    func usage(arguments: [String]) async throws {
        #expect(try await brokerctl(["audit"] + arguments).status == .exited(2))
    }
}

import BrokerTestSupport
import Testing

@Suite("brokerctl grants and connected callers")
struct GrantCommandTests {
    private static let facts =
        #""facts":{"rootMount":"other","userNamespace":"other","pidNamespace":"same","cgroup":"/user.slice/user-1000.slice/user@1000.service/app.slice/app-flatpak-org.example.Mail-1.scope"}"#
    private static let request =
        #"{"id":"k7f3q2m9ab","caller":{"tier":"sandboxed","id":"org.example.Game"},"app":"mail","scopes":["a","b"],"#
        + #""requestedOn":1000,\#(facts)}"#
    private static let grant =
        #"{"id":"x2f3q2m9ab","caller":{"tier":"systemInstalled","id":"/usr/bin/\u001b[31mgit"},"app":"notes","#
        + #""account":{"id":"acc-1"},"createdOn":1000,"expiresOn":99999999999,"uses":7,"lastUsedOn":2000}"#

    @Test("requests and grants are listed with tier and facts in 80 columns")
    func list() async throws {
        let broker = try broker([
            "grants.list": #"{"grants":[\#(Self.grant)],"requests":[\#(Self.request)]}"#,
            "accounts.list": #"{"accounts":[\#(ScriptedAnswers.account())]}"#,
        ])
        let result = try await brokerctl(["grants", "list"], at: broker.path)
        #expect(result.status == .exited(0))
        for text in [
            "k7f3q2m9ab  mail  sandboxed", "caller org.example.Game", "for a b, of every account", "rootMount=other",
            "caller /usr/bin/[31mgit", "for everything the app may request, of ada@example.org",
        ] {
            #expect(result.output.contains(text), "\(text) in \(result.output)")
        }
        // A fact is one word of any length.
        for line in result.lines where !line.contains("app-flatpak") { #expect(line.count <= 80, "\(line)") }
    }

    @Test("an unregistered client is shown after its authority, with the complete request")
    func client() async throws {
        let scopes = (0..<30).map { "https://api.example.org/auth/scope-\($0)" }
        let request =
            #"{"id":"k7f3q2m9ab","caller":{"tier":"sandboxed","id":"org.example.Game"},"app":"adhoc:n https://x","#
            + #""clientId":"notes","authority":"https://login.example.org/t","scopes":\#(scopes),"requestedOn":1000,"#
            + #"\#(Self.facts)}"#
        let broker = try broker(["grants.list": #"{"grants":[],"requests":[\#(request)]}"#])
        let result = try await brokerctl(["grants", "list"], at: broker.path)
        #expect(result.output.contains("client notes  sandboxed"))
        #expect(result.output.contains("at example.org (https://login.example.org/t)"))
        for scope in scopes { #expect(result.output.contains(scope)) }
    }

    @Test("a name cannot add a line to an approval, and its length is limited")
    func forgedLine() async throws {
        let caller = #"/opt/a\n\u3164Granted: everything"# + String(repeating: "x", count: 3_000_000)
        let grant =
            #"{"id":"x2f3q2m9ab","caller":{"tier":"unknown","id":"\#(caller.prefix(8_000))"},"app":"notes","createdOn":1,"uses":0}"#
        let broker = try broker(["grants.approve": #"{"grant":\#(grant)}"#])
        let result = try await brokerctl(["grants", "approve", "k7"], at: broker.path)
        #expect(result.lines.count == 1 && result.output.hasPrefix("/opt/aGranted: everythingx"))
    }

    @Test("an empty list is a sentence, and empty JSON for programs")
    func empty() async throws {
        let broker = try broker(["grants.list": #"{"grants":[],"requests":[]}"#])
        #expect(try await brokerctl(["grants", "list"], at: broker.path).output.contains("There are no grants"))
        let json = try await brokerctl(["grants", "list", "--json"], at: broker.path)
        #expect(json.output == #"{"grants":[],"requests":[]}"# + "\n")
    }

    @Test("a tier is shown in the spelling that options accept, and an error lists all")
    func tiers() async throws {
        let broker = try broker([
            "grants.list": #"{"grants":[\#(Self.grant)],"requests":[]}"#,
            "accounts.list": #"{"accounts":[\#(ScriptedAnswers.account())]}"#,
        ])
        #expect(try await brokerctl(["grants", "list"], at: broker.path).output.contains("systemInstalled"))
        for caller in ["root:x", "unidentified:pid 7", "unknown"] {
            let result = try await brokerctl(["grants", "approve", "--caller", caller, "--app", "a"], at: broker.path)
            #expect(result.status == .exited(2), "\(result)")
            #expect(
                result.errors.contains("takes sandboxed:, confined:, systemInstalled: or unknown:"), "\(result)")
        }
    }

    @Test(
        "approve sends the grant as the broker expects it",
        arguments: [
            (["k7f3q2m9ab"], #"{"request":"k7f3q2m9ab"}"#),
            (
                ["--caller", "system:backup.service", "--app", "mail"],
                #"{"app":"mail","caller":{"id":"system:backup.service","tier":"systemInstalled"}}"#
            ),
            (
                ["k7f3q2m9ab", "--scope", "a", "b", "--for", "30d"],
                #"{"lifetime":2592000,"request":"k7f3q2m9ab","scopes":["a","b"]}"#
            ),
            (
                ["--caller", "sandboxed:org.example.Game", "--app", "mail", "--account", "ada@example.org"],
                #"{"account":{"username":"ada@example.org"},"app":"mail","caller":{"id":"org.example.Game","tier":"sandboxed"}}"#
            ),
        ])
    func approve(arguments: [String], params: String) async throws {
        let broker = try broker([
            "accounts.list": #"{"accounts":[\#(ScriptedAnswers.account(id: "acc-1"))]}"#,
            "grants.approve": #"{"grant":\#(Self.grant)}"#,
        ])
        let result = try await brokerctl(["grants", "approve"] + arguments, at: broker.path)
        let approvals = broker.requests.filter { $0.method == "grants.approve" }
        #expect(result.status == .exited(0) && approvals.map(\.params) == [params])
        #expect(
            result.output.hasPrefix("/usr/bin/[31mgit may use notes for everything the app may request, of ada"),
            "\(result)")
    }

    @Test(
        "an incomplete approval is a usage error",
        arguments: [[], ["id", "--app", "mail"], ["--app", "mail"], ["--caller", "mail"], ["id", "--for", "soon"]])
    func usage(arguments: [String]) async throws {
        #expect(try await brokerctl(["grants", "approve"] + arguments).status == .exited(2))
    }

    @Test("deny and revoke report the result")
    func others() async throws {
        let broker = try broker(["grants.deny": #"{"denied":true}"#, "grants.revoke": #"{"revoked":true}"#])
        #expect(try await brokerctl(["grants", "deny", "k7"], at: broker.path).output == "Denied k7.\n")
        #expect(try await brokerctl(["grants", "revoke", "k7"], at: broker.path).output == "Revoked k7.\n")
    }

    @Test("connected callers are listed with their facts")
    func callers() async throws {
        let broker = try broker([
            "broker.callers":
                #"{"callers":[{"tier":"sandboxed","id":"org.example.Game","administers":false,\#(Self.facts)}]}"#
        ])
        let result = try await brokerctl(["status", "--callers"], at: broker.path)
        #expect(
            result.lines.prefix(2) == ["TIER       ADMINISTERS  CALLER", "sandboxed  no           org.example.Game"])
        #expect(result.output.contains("pidNamespace=same rootMount=other userNamespace=other"))
    }
}

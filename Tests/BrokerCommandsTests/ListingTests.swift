import BrokerTestSupport
import Foundation
import Testing

@Suite("Accounts, apps and status for people and programs")
struct ListingTests {
    private static let apps =
        #"{"apps":[{"name":"mail","clientId":"c-1","authority":"https://idp","group":"office","scopes":["a","b"],"#
        + #""executables":["/usr/bin/mail"],"units":[],"sandboxIds":[],"confidential":true}]}"#

    @Test("status lists the broker's facts")
    func status() async throws {
        let broker = try broker(["broker.status": ScriptedAnswers.status])
        let result = try await brokerctl(["status"], at: broker.path)
        #expect(
            result.output == """
                Broker       0.1.0, protocol 1, user mode
                Socket       \(broker.path)
                Running for  1 hour 2 minutes
                Vault        /var/lib/x/vault.db, 12 records
                Key          keyfile
                Connections  1
                Refreshes    0 in flight
                Device       private

                """)
    }

    @Test("accounts are in columns, and names cannot control the terminal or reverse the line")
    func accounts() async throws {
        let accounts = [
            ScriptedAnswers.account(id: "acc-1"),
            ScriptedAnswers.account(
                id: "acc-2", username: #"eve\u001b]0;title\u0007@example.org\u009b31m"#, name: #"\u202eMallory\n"#,
                signedIn: false),
            ScriptedAnswers.account(id: "acc-3", username: "yuki@example.org", name: "雪"),
        ]
        let broker = try broker(["accounts.list": #"{"accounts":[\#(accounts.joined(separator: ","))]}"#])
        let result = try await brokerctl(["accounts", "list", "--all"], at: broker.path)
        #expect(
            result.output == """
                USERNAME                    NAME     PROVIDER         STATE       ID
                ada@example.org             Ada      idp.example.org  signed in   acc-1
                eve]0;title@example.org31m  Mallory  idp.example.org  signed out  acc-2
                yuki@example.org            雪       idp.example.org  signed in   acc-3

                """)
    }

    @Test("an administrator sees the owners of records and whether they still have the uid")
    func partitions() async throws {
        let broker = try broker([
            "partitions.list": #"{"partitions":[{"uid":1000,"account":"ada","state":"present","records":12,"#
                + #""bytes":20480,"lastUsedOn":0},{"uid":1001,"account":"b\u001bob","state":"gone","records":1,"bytes":10},"#
                + #"{"uid":1002,"account":"eve","state":"otherAccount","records":2,"bytes":2048},"#
                + #"{"uid":1003,"state":"unknown","records":0,"bytes":0}]}"#
        ])
        let lines = try await brokerctl(["partitions", "list"], at: broker.path).output.split(separator: "\n")
        #expect(lines.count == 5)
        #expect(lines[0].hasPrefix("UID   ACCOUNT  STATE"))
        #expect(lines[1].hasPrefix("1000  ada      exists") && lines[1].hasSuffix("ago"))
        #expect(lines[2].hasPrefix("1001  bob      gone") && lines[2].hasSuffix("never"))
        #expect(lines[3].hasPrefix("1002  eve      another account has the uid  2        2 KiB"))
        #expect(lines[4].hasPrefix("1003           unknown"))
    }

    @Test("an empty list is a sentence", arguments: ["accounts", "apps"])
    func empty(_ noun: String) async throws {
        let broker = try broker(["accounts.list": #"{"accounts":[]}"#, "apps.list": #"{"apps":[]}"#])
        let result = try await brokerctl([noun, "list"], at: broker.path)
        #expect(result.status == .exited(0))
        #expect(result.output.contains("brokerctl "))
        #expect(try await brokerctl([noun, "list", "--json"], at: broker.path).output == "{\"\(noun)\":[]}\n")
    }

    @Test("an account is shown with its claims")
    func show() async throws {
        let broker = try broker(["accounts.get": #"{"account":\#(ScriptedAnswers.account())}"#])
        let result = try await brokerctl(["accounts", "show", "ada@example.org"], at: broker.path)
        #expect(
            result.lines == [
                "Username      ada@example.org", "Name          Ada", "State         signed in",
                "Authority     https://idp.example.org", "Tenant        t-1", "Id            acc-1",
                "Home account  sub.idp", "Claim admin   false", "Claim age     36", "Claim email   ada@example.org",
                "Claim height  1.7", #"Claim roles   ["reader",7,null]"#,
            ])
    }

    @Test("an unknown account is a failure")
    func showNobody() async throws {
        let broker = try broker(["accounts.get": #"{"account":null}"#])
        let result = try await brokerctl(["accounts", "show", "eve", "--json"], at: broker.path)
        #expect(result.status == .exited(1))
        #expect((result.json["data"] as? [String: Any])?["kind"] as? String == "accountNotFound")
    }

    @Test("remove reports the removed tokens")
    func remove() async throws {
        let broker = try broker(["accounts.remove": #"{"removed":1}"#])
        let result = try await brokerctl(["accounts", "remove", "ada@example.org", "--app", "mail"], at: broker.path)
        #expect(result.output == "Removed 1 token of ada@example.org from mail.\n")
    }

    @Test("apps are in columns")
    func apps() async throws {
        let broker = try broker(["apps.list": Self.apps])
        let result = try await brokerctl(["apps", "list"], at: broker.path)
        #expect(
            result.lines == [
                "NAME  GROUP   CLIENT ID  AUTHORITY    SCOPES", "mail  office  c-1        https://idp  a b",
            ])
    }

    @Test("add sends every option, with the secret from standard input")
    func add() async throws {
        let broker = try ScriptedBroker.answering { _ in #"{"app":\#(Self.apps.dropFirst(9).dropLast(2))}"# }
        let result = try await brokerctl(
            [
                "apps", "add", "mail", "--client-id", "c-1", "--authority", "https://idp", "--group", "office",
                "--scope",
                "a", "b", "--redirect-uri", "http://127.0.0.1:1/", "--executable", "/usr/bin/mail", "--unit",
                "mail.service",
                "--sandbox", "org.example.Mail", "--client-secret-stdin",
            ], at: broker.path, input: "s3cret\n")
        #expect(result.status == .exited(0))
        #expect(result.output.contains("Client id    c-1 (with a secret)\n"))
        #expect(!result.output.contains("s3cret"))
        let expected =
            #"{"authority":"https:\/\/idp","checkAuthority":true,"clientId":"c-1","clientSecret":"s3cret","executables":["\/usr\/bin\/mail"],"#
            + #""group":"office","name":"mail","redirectUri":"http:\/\/127.0.0.1:1\/","replace":false,"sandboxIds":["org.example.Mail"],"#
            + #""scopes":["a","b"],"units":["mail.service"]}"#
        // The broker decides whether it identifies programs by path.
        #expect(broker.requests.map(\.method) == ["apps.register", "broker.status"])
        #expect(broker.requests.first?.params == expected)
    }

    @Test("a missing secret is not sent as an empty one")
    func noSecret() async throws {
        let broker = try ScriptedBroker { $0.waitForEnd() }
        let result = try await brokerctl(
            ["apps", "add", "mail", "--client-id", "c", "--authority", "https://idp", "--client-secret-stdin"],
            at: broker.path, input: "")
        #expect(result.status == .exited(1))
        #expect(broker.requests.isEmpty)
    }

    @Test("an app is removed")
    func removeApp() async throws {
        let broker = try broker(["apps.remove": #"{"app":\#(Self.apps.dropFirst(9).dropLast(2))}"#])
        #expect(try await brokerctl(["apps", "remove", "mail"], at: broker.path).output == "Removed mail.\n")
    }

    @Test("a terminal gets bold headers and indented JSON, and NO_COLOR is respected")
    func terminal() async throws {
        let broker = try broker(["broker.status": ScriptedAnswers.status])
        func onTerminal(_ command: String, _ environment: [String: String]) async throws -> String {
            let program = try PackageTree.program("brokerctl")
            let line = "'\(program)' --socket '\(broker.path)' \(command)"
            return try await withTestBed { bed in
                try await bed.run(Launch("script", ["-qec", line, "/dev/null"], environment: environment)).output
            }
        }
        #expect(try await onTerminal("status", ["TERM": "xterm"]).contains("\u{1B}[1mBroker\u{1B}[0m"))
        #expect(try await !onTerminal("status", ["TERM": "xterm", "NO_COLOR": "1"]).contains("\u{1B}["))
        #expect(try await !onTerminal("status", ["TERM": "dumb"]).contains("\u{1B}["))
        #expect(
            try await onTerminal("status --json", ["TERM": "xterm"]).hasPrefix("{\r\n  \"version\": \"0.1.0\",\r\n"))
    }

    @Test(
        "completion prints a script for the named shell",
        arguments: [("bash", "complete "), ("zsh", "#compdef"), ("fish", "complete -c")])
    func completion(_ shell: String, _ mark: String) async throws {
        let result = try await brokerctl(["completion", shell])
        #expect(result.status == .exited(0))
        #expect(result.output.contains(mark))
        #expect(result.output.contains("force-refresh"))
    }

    @Test("a broker that does not answer gives status 3 and says what to do")
    func silentBroker() async throws {
        let broker = try ScriptedBroker { $0.waitForEnd() }
        let result = try await brokerctl(["status", "--timeout", "1"], at: broker.path)
        #expect(result.status == .exited(3) && result.errors.contains("does not answer"), "\(result)")
        #expect(try await brokerctl(["status", "--timeout", "0"], at: broker.path).status == .exited(2))
    }

    @Test("a provider's message and the correlation id are printed safely, except for usage errors")
    func providersWords() async throws {
        let broker = try ScriptedBroker { peer in
            while let request = peer.request() {
                if request.method == "accounts.list" {
                    peer.fail(
                        request, "invalidClient", message: "The provider does not accept this client.",
                        more: #","correlationId":"c-7","oauthError":"invalid_client","#
                            + #""description":"AADSTS7000215: Wrong\u001b[31m secret","httpStatus":401"#)
                } else {
                    peer.fail(request, "appNotFound", message: "No such app.", more: #","correlationId":"c-8""#)
                }
            }
        }
        let refused = try await brokerctl(["accounts", "list"], at: broker.path)
        #expect(
            refused.errors == "brokerctl: The provider does not accept this client.\n"
                + "  The provider said: invalid_client, AADSTS7000215: Wrong [31m secret.\n  Correlation id: c-7\n")
        #expect(try await brokerctl(["apps", "list"], at: broker.path).errors == "brokerctl: No such app.\n")
    }
}

import BrokerCommands
import BrokerTestSupport
import Foundation
import Testing

@Suite("brokerctl's exit status and streams")
struct ExitStatusTests {
    @Test(
        "each kind of failure has its status, a sentence on standard error and no output",
        arguments: [
            ("interactionRequired", 4), ("accessDenied", 5), ("grantRequired", 5), ("offline", 1), ("throttled", 1),
            ("ambiguousAccount", 4), ("locked", 4), ("userCanceled", 1), ("internal", 1), ("invalidParameter", 1),
        ] as [(String, Int32)])
    func kinds(_ kind: String, _ status: Int32) async throws {
        let broker = try ScriptedBroker.refusing(kind, message: "It is \(kind).")
        let result = try await brokerctl(["token", "--app", "mail", "--scope", "email"], at: broker.path)
        #expect(result.status == .exited(status))
        #expect(result.errors.hasPrefix("brokerctl: It is \(kind)."))
        #expect(result.output.isEmpty)

        let json = try await brokerctl(["token", "--app", "mail", "--scope", "email", "--json"], at: broker.path)
        #expect(json.status == .exited(status))
        #expect(json.errors.isEmpty)
        #expect(json.json["code"] as? Int == -32000)
        #expect((json.json["data"] as? [String: Any])?["kind"] as? String == kind)
    }

    @Test("without a broker, the status is 3 and the message says how to start one")
    func noBroker() async throws {
        let usual = try await brokerctl(["status"], environment: ["XDG_RUNTIME_DIR": "/nonexistent"])
        #expect(usual.status == .exited(3))
        #expect(usual.errors.contains("systemctl --user start brokerd.socket"))
        // systemd starts none at another place.
        let result = try await brokerctl(["status"], at: "/nonexistent/broker.sock")
        #expect(result.status == .exited(3))
        #expect(result.errors.contains("/nonexistent/broker.sock") && !result.errors.contains("systemctl"))
        let json = try await brokerctl(["--json", "status"], at: "/nonexistent/broker.sock")
        #expect(json.status == .exited(3))
        #expect((json.json["data"] as? [String: Any])?["kind"] as? String == "brokerNotAvailable")
    }

    @Test("an argument that is not UTF-8 is refused, because a repaired one names another file")
    func notText() async throws {
        try await withTestBed { bed in
            let program = try PackageTree.program("brokerctl")
            for command in ["cache export", "--json cache export"] {
                let line = "cd \(bed.path("")) && \(program) --socket /nowhere \(command) $(printf 'caf\\351')"
                let result = try await bed.run(Launch("/bin/sh", ["-c", line]))
                #expect(result.status == .exited(2) && result.errors.contains("is not UTF-8"), "\(result)")
                #expect(result.output.contains("invalidParameter") == command.contains("--json"))
            }
        }
    }

    @Test(
        "a wrong command line is status 2 and causes no request",
        arguments: [
            [], ["nosuch"], ["status", "--bogus"], ["accounts"], ["apps"], ["token"], ["token", "--client-id", "c"],
            ["token", "--app", "a", "--client-id", "c", "--authority", "u"], ["token", "--app", "a", "--format", "x"],
            ["token", "--app", "a", "--min-lifetime", "x"], ["token", "--app", "a", "--min-lifetime", "90000"],
            ["login"], ["login", "--app", "a", "--prompt", "please"], ["login", "--app", "a", "--timeout", "0"],
            ["accounts", "show"], ["accounts", "remove", "ada"], ["apps", "add", "mail"], ["apps", "remove"],
            ["completion"], ["completion", "tcsh"], ["--socket"],
        ])
    func usage(_ arguments: [String]) async throws {
        let log = Recorder<String>()
        let broker = try ScriptedBroker { peer in
            log.add("connected")
            peer.waitForEnd()
        }
        let result = try await brokerctl(arguments, at: broker.path)
        #expect(result.status == .exited(2))
        #expect(result.output.isEmpty)
        #expect(!result.errors.isEmpty)
        #expect(log.all.isEmpty)
    }

    @Test("with --json, a wrong command line also prints an error object on standard output")
    func usageAsJSON() async throws {
        let result = try await brokerctl(["token", "--json"])
        #expect(result.status == .exited(2))
        #expect((result.json["data"] as? [String: Any])?["kind"] as? String == "invalidParameter")
        #expect(!result.errors.isEmpty)
    }

    @Test(
        "a noun without its command is a usage error, but words after -- belong to another program",
        arguments: [
            (["accounts", "--json"], "brokerctl accounts needs one of its commands: list, "),
            (["--json"], "brokerctl needs one of its commands: status, "),
            (["run-in", "--bogus", "--", "jq", "--json"], nil),
        ])
    func incompleteAsJSON(_ arguments: [String], _ message: String?) async throws {
        let result = try await brokerctl(arguments)
        #expect(result.status == .exited(2) && !result.errors.isEmpty)
        #expect(result.output.isEmpty == (message == nil), "\(result)")
        if let message { #expect((result.json["message"] as? String)?.hasPrefix(message) == true, "\(result)") }
    }

    @Test(
        "a common wrong word gives a hint to the right command",
        arguments: [
            (["version"], "--version"), (["token", "notes"], "--app notes"), (["-V"], "did you mean --version?"),
            (["sign-in"], "did you mean brokerctl login?"), (["accounts", "sign-in"], "did you mean brokerctl login?"),
            (["apps", "rm", "mail"], "did you mean remove?"), (["import", "msal"], "did you mean msal-cache?"),
            (["config", "list"], "did you mean brokerctl config show?"),
        ])
    func suggestions(_ arguments: [String], _ hint: String) async throws {
        let result = try await brokerctl(arguments)
        #expect(result.status == .exited(2))
        #expect(result.errors.contains(hint))
    }

    @Test(
        "a suggestion that would fail as well is not made",
        arguments: [
            (["token", "--app", "mail", "notes"], "--app notes"), (["token-file", "--once", "x"], "--socket"),
        ])
    func noSuggestion(_ arguments: [String], _ hint: String) async throws {
        let result = try await brokerctl(arguments)
        #expect(result.status == .exited(2))
        #expect(!result.errors.contains("ean \(hint)"), "\(result)")
    }

    @Test("each suggestion is a command, and no word with a suggestion is one")
    func meantCommands() {
        func reading(_ words: [String]) -> String {
            switch CommandReading(words, root: Brokerctl.root) {
            case .version: "done"
            case .help: "help"
            case .command, .mistake(_, _), .incomplete: "other"
            }
        }
        for (noun, words) in MeantCommand.table {
            let path = noun.isEmpty ? [] : [noun]
            for (word, meant) in words {
                let line = meant.split(separator: " ").map(String.init)
                let isOption = meant.hasPrefix("--")
                #expect(isOption || reading(["help"] + line) == "help", "\(meant)")
                #expect(reading(["help"] + path + [word]) == "other", "\(noun) \(word)")
            }
        }
    }

    @Test(
        "help and version exit with 0", arguments: [["--help"], ["help", "token"], ["token", "-h"], ["--version"]])
    func help(_ arguments: [String]) async throws {
        let result = try await brokerctl(arguments)
        #expect(result.status == .exited(0))
        #expect(result.output.contains("brokerctl"))
        #expect(result.errors.isEmpty)
    }

    @Test(
        "--socket and --json are accepted before and after the subcommand",
        arguments: [
            ["--socket", "@", "--json", "status"], ["status", "--socket", "@", "--json"],
            ["--json", "status", "--socket", "@"], ["--socket=@", "status", "--json"],
        ])
    func globalOptions(_ arguments: [String]) async throws {
        let broker = try broker(["broker.status": ScriptedAnswers.status])
        let result = try await brokerctl(
            arguments.map { $0.replacingOccurrences(of: "@", with: broker.path) }, at: "/nonexistent")
        #expect(result.status == .exited(0))
        #expect(result.output == ScriptedAnswers.status + "\n")
    }

    @Test("--socket and --json are accepted two levels down")
    func globalOptionsOfNouns() async throws {
        let broker = try broker(["accounts.list": #"{"accounts":[]}"#])
        for arguments in [
            ["--json", "accounts", "list"], ["accounts", "--json", "list"], ["accounts", "list", "--json"],
        ] {
            let result = try await brokerctl(["--socket", broker.path] + arguments)
            #expect(result.output == "{\"accounts\":[]}\n", "\(arguments)")
        }
    }

    @Test("a broker that disconnects during a change is a failure")
    func lost() async throws {
        let broker = try ScriptedBroker { peer in _ = peer.request() }
        let result = try await brokerctl(["accounts", "remove", "ada@example.org", "--app", "mail"], at: broker.path)
        #expect(result.status == .exited(1))
        #expect(result.errors.contains("went away"))
    }

    @Test(
        "a broker that ends every connection before the end of its answer counts as none",
        arguments: ["", #"{"jsonrpc":"2.0","#])
    func hungUp(part: String) async throws {
        let broker = try ScriptedBroker { peer in
            _ = peer.request()
            peer.send(part)
        }
        let result = try await brokerctl(["token", "--app", "mail", "--scope", "email"], at: broker.path)
        #expect(result.status == .exited(3))
        #expect(result.errors.contains("\(broker.path) are accepted, but end"), "\(result)")
    }

    @Test("a token request survives a restart of the broker")
    func restarted() async throws {
        let broker = try ScriptedBroker { peer in
            guard let request = peer.request(), peer.number > 1 else { return }
            peer.answer(request, ScriptedAnswers.token("AT-2"))
        }
        let result = try await brokerctl(["token", "--app", "mail", "--scope", "email"], at: broker.path)
        #expect(result.output == "AT-2\n")
    }

    @Test("an unknown protocol is not mistaken for a failed request")
    func garbage() async throws {
        let broker = try ScriptedBroker { peer in
            _ = peer.request()
            peer.send("HTTP/1.1 400 Bad Request\r\n\r\n")
        }
        let result = try await brokerctl(["status"], at: broker.path)
        #expect(result.status == .exited(1))
        #expect(result.errors.contains("does not speak"))
    }

    @Test("a refusal of the broker is printed with its reason")
    func turnedAway() async throws {
        let broker = try ScriptedBroker { peer in
            peer.send(
                #"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Not yours.","#
                    + #""data":{"kind":"accessDenied","retryable":false}}}"# + "\n")
        }
        let result = try await brokerctl(["status"], at: broker.path)
        #expect(result.status == .exited(5))
        #expect(result.errors == "brokerctl: Not yours.\n")
    }
}

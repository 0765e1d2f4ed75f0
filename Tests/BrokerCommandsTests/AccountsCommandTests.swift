import BrokerCommands
import BrokerTestSupport
import BrokerValues
import Foundation
import Synchronization
import Testing

@Suite("brokerctl accounts")
struct AccountsCommandTests {
    /// Answers like a broker that knows one account.
    private func broker() throws -> ScriptedBroker {
        try BrokerCommandsTests.broker([
            "accounts.get": #"{"account":\#(Self.guest)}"#, "accounts.list": #"{"accounts":[\#(Self.guest)]}"#,
            "accounts.remove": #"{"removed":1}"#,
        ])
    }

    private static let guest = ScriptedAnswers.account().replacing(
        #""later":"#,
        with: #""tenantProfiles":[{"tenantId":"t-1","authority":"https://idp/t-1","isHomeTenant":true},"#
            + #"{"tenantId":"t-2","authority":"https://idp/t-2","username":"ada#EXT","isHomeTenant":false}],"later":"#)

    @Test(
        "list, show and remove find an unregistered app's accounts by client id and authority",
        arguments: [["list"], ["show", "ada"], ["remove", "ada"]])
    func adHoc(command: [String]) async throws {
        let broker = try broker()
        let app = ["--client-id", "c", "--authority", "https://idp"]
        let result = try await brokerctl(["accounts"] + command + app, at: broker.path)
        #expect(result.status == .exited(0))
        #expect(broker.requests.map(\.method) == ["accounts.\(command[0] == "show" ? "get" : command[0])"])
        #expect(broker.requests.first?.params.contains(#""authority":"https:\/\/idp","clientId":"c""#) == true)
    }

    @Test(
        "an incomplete app and a removal without an app are usage errors",
        arguments: [
            ["list", "--client-id", "c"], ["list", "--authority", "https://idp"], ["remove", "ada"],
            ["list", "--app", "a", "--client-id", "c", "--authority", "https://idp"],
            ["sign-out", "ada", "--timeout", "0"],
        ])
    func usage(command: [String]) async throws {
        #expect(try await brokerctl(["accounts"] + command, at: "/nowhere").status == .exited(2))
    }

    @Test("show lists the tenants where an account is a guest")
    func guests() async throws {
        let broker = try broker()
        let result = try await brokerctl(["accounts", "show", "ada"], at: broker.path)
        #expect(result.output.contains(/Guest at +t-2: ada#EXT\n/))
        #expect(!result.output.contains(/Guest at +t-1/))
    }

    @Test(
        "a requested stage that failed makes the exit status 1 and is reported once",
        arguments: [("revocation", 1), ("browser", 1), ("wipe", 1), ("none", 0)])
    func stages(failed: String, status: Int32) async throws {
        let all = ["local", "wipe", "revocation", "browser"].map {
            #""\#($0)":"\#($0 == failed ? "failed: nobody is there." : "done")""#
        }
        let answer = #"{"stages":{\#(all.joined(separator: ","))}}"#
        let broker = try BrokerCommandsTests.broker(["accounts.signOut": answer])
        let result = try await brokerctl(
            ["accounts", "sign-out", "ada", "--app", "mail", "--wipe", "--revoke", "--browser"], at: broker.path)
        #expect(result.status == .exited(status) && result.errors.isEmpty, "\(result)")
        #expect(result.output.contains("failed: nobody is there.") == (status == 1), "\(result)")
    }

    /// Announces the logout page, and answers when the sign-out is cancelled there.
    private func signingOut(_ log: Recorder<String>) throws -> ScriptedBroker {
        let signOuts = Recorder<(peer: ScriptedPeer, request: ScriptedRequest)>()
        return try ScriptedBroker { peer in
            while let request = peer.request() {
                switch request.method {
                case "accounts.signOut":
                    signOuts.add((peer, request))
                    log.add(request.params)
                    peer.notify(
                        "interaction.open",
                        ScriptedAnswers.opening(correlationId: request.string("correlationId") ?? ""))
                case "interaction.cancel":
                    log.add(request.params)
                    peer.answer(request, #"{"cancelled":true}"#)
                    let stages = #"{"local":"done","wipe":"skipped","revocation":"done","browser":"done"}"#
                    for signOut in signOuts.all { signOut.peer.answer(signOut.request, #"{"stages":\#(stages)}"#) }
                default: return
                }
            }
        }
    }

    @Test("Ctrl-C ends the wait for the browser, and the outcome is still printed")
    func leavesBrowser() async throws {
        let log = Recorder<String>()
        let broker = try signingOut(log)
        try await withTestBed { bed in
            let process = try bed.start(
                Launch(
                    try PackageTree.program("brokerctl"),
                    [
                        "--socket", broker.path, "accounts", "sign-out", "ada", "--app", "mail", "--revoke",
                        "--browser",
                        "--timeout", "60", "--correlation-id", "c-1",
                    ], environment: ["BROWSER": "true"]), as: "brokerctl")
            try await process.waitForText("Your browser shows the provider's page")
            // BROWSER=true opens nothing.
            try await process.waitForText("https://idp.example.org/authorize?state=s")
            process.send(SIGINT)
            #expect(await process.exitStatus() == .exited(0))
            #expect(
                process.outputText
                    == "Account   ada\nThis app  signed out\nProvider  signed out\nBrowser   left as it is\n")
        }
        let expected =
            #"{"account":{"username":"ada"},"app":"mail","correlationId":"c-1","fromBrowser":true,"revoke":true,"timeout":60}"#
        #expect(log.all == [expected, #"{"interactionId":"i-1"}"#])
    }

    @Test(
        "commands that remove something let the broker resolve the account name",
        arguments: ["sign-out", "remove", "forget"])
    func namesAreHandedOn(command: String) async throws {
        let broker = try ScriptedBroker { peer in
            while let request = peer.request() {
                peer.fail(
                    request, request.params.contains("username") ? "accountNotFound" : "ambiguousAccount",
                    message: "Which?")
            }
        }
        let options = command == "forget" ? ["--yes"] : ["--app", "mail"]
        let result = try await brokerctl(["accounts", command, "ada"] + options, at: broker.path)
        #expect(result.status != .exited(0))
        let requests = broker.requests
        #expect(
            requests.count == 2 && requests.allSatisfy { $0.params.contains("\"ada\"") && $0.method != "accounts.get" },
            "\(requests)")
    }

    private static let longID = "0123456789abcdef0123456789abcdef01234567"

    @Test(
        "an account named by id is shown by username, also after its removal",
        arguments: [
            (["remove", longID, "--app", "mail"], "Removed 1 token of ada@example.org from mail.\n"),
            (["forget", longID, "--yes"], "Erased ada@example.org with 1 token.\n"),
        ])
    func named(command: [String], told: String) async throws {
        let isGone = Mutex(false)
        let broker = try ScriptedBroker { peer in
            while let request = peer.request() {
                if request.method == "accounts.get" {
                    let account = isGone.withLock(\.self) ? "null" : ScriptedAnswers.account(id: Self.longID)
                    peer.answer(request, #"{"account":\#(account)}"#)
                } else {
                    isGone.withLock { $0 = true }
                    peer.answer(request, #"{"removed":1,"accounts":1,"tokens":1,"revocation":"skipped"}"#)
                }
            }
        }
        let result = try await brokerctl(["accounts"] + command, at: broker.path)
        #expect(result.output == told, "\(result)")
    }

    @Test("sign-out lists the ids of accounts that share a username")
    func sharedUsername() async throws {
        let two = ["acc-1", "acc-2"].map { ScriptedAnswers.account(id: $0) }.joined(separator: ",")
        let broker = try BrokerCommandsTests.broker(["accounts.list": #"{"accounts":[\#(two)]}"#])
        let result = try await brokerctl(["logout"], at: broker.path)
        #expect(result.status == .exited(4))
        #expect(result.errors.contains("ada@example.org (id acc-1), ada@example.org (id acc-2)"), "\(result)")
    }

    /// Two accounts are signed in to mail; a token is for the named one.
    private func brokerOfTwo() throws -> ScriptedBroker {
        let two = [
            ScriptedAnswers.account(id: "acc-1"), ScriptedAnswers.account(id: "acc-2", username: "eve@example.org"),
        ]
        let chosen = Mutex<String?>(nil)
        return try ScriptedBroker { peer in
            while let request = peer.request() {
                switch request.method {
                case "accounts.get":
                    let account = request.params.contains("ada@") ? two[0] : two[1]
                    peer.answer(request, #"{"account":\#(account)}"#)
                case "accounts.list":
                    let isMail = request.params.contains(#""app":"mail""#)
                    let choice = isMail ? chosen.withLock(\.self).map { #","defaultAccount":"\#($0)""# } : nil
                    peer.answer(request, #"{"accounts":[\#(two.joined(separator: ","))]\#(choice ?? "")}"#)
                case "accounts.setDefault":
                    let id = ["acc-1", "acc-2"].first(where: request.params.contains)
                    chosen.withLock { $0 = id }
                    peer.answer(request, #"{"account":\#(id.map { $0 == "acc-1" ? two[0] : two[1] } ?? "null")}"#)
                case "token.acquireSilent" where request.params.contains("acc-2"):
                    peer.answer(request, ScriptedAnswers.token())
                case "token.acquireSilent" where request.params.contains("acc-"):
                    peer.fail(request, "accountNotFound")
                default: peer.fail(request, "ambiguousAccount", message: "Several accounts fit.")
                }
            }
        }
    }

    @Test("an app's default account gets its tokens if several are signed in, until it is cleared")
    func defaultAccount() async throws {
        let broker = try brokerOfTwo()
        func run(_ words: String...) async throws -> CommandResult { try await brokerctl(words, at: broker.path) }
        let token = ["token", "--app", "mail", "--scope", "email"]
        #expect(try await brokerctl(token, at: broker.path).status == .exited(4))
        let chosen = try await run("accounts", "default", "eve@example.org", "--app", "mail")
        #expect(chosen.output.hasPrefix("The default account of mail is ") && chosen.output.contains("eve@"))
        #expect(try await brokerctl(token, at: broker.path).output == "AT-1\n")
        // A named account comes first; another app has a default of its own.
        #expect(try await brokerctl(token + ["--account", "x"], at: broker.path).status == .exited(4))
        #expect(try await run("token", "--app", "notes", "--scope", "email").status == .exited(4))
        #expect(try await run("accounts", "default", "--app", "mail").output.contains("eve@example.org"))

        let cleared = try await run("accounts", "default", "--clear", "--app", "mail")
        #expect(cleared.output == "mail has no default account.\n")
        #expect(try await brokerctl(token, at: broker.path).status == .exited(4))
    }

    @Test("the error for a default account that is gone says what to do")
    func lostDefault() async throws {
        let broker = try brokerOfTwo()
        let chosen = try await brokerctl(
            ["accounts", "default", "ada@example.org", "--app", "mail"], at: broker.path)
        #expect(chosen.succeeded && chosen.output.contains("ada@"), "\(chosen)")
        let result = try await brokerctl(["token", "--app", "mail", "--scope", "email"], at: broker.path)
        #expect(
            result.status == .exited(1) && result.errors.contains("is no longer signed in; choose another"),
            "\(result)")
    }

    @Test("an account without a refresh token is shown with the end of its sign-in")
    func ends() {
        func state(_ isSignedIn: Bool, _ end: NumericDate?) -> String {
            var account = BrokerValues.Account(
                id: "a", username: "ada", environment: "e", homeAccountId: "h", authority: "https://e",
                signedIn: isSignedIn)
            account.signInEndsOn = end
            return AccountText.state(account, now: 1000)
        }
        #expect(state(true, nil) == "signed in" && state(true, TokenEnd.unknown) == "signed in")
        #expect(state(true, 2200) == "signed in, ends \(TimeText.relative(2200, to: 1000))")
        #expect(state(true, 0) == "has to sign in again" && state(false, nil) == "signed out")
    }

    @Test("logout uses the only account and requires a name if there are several")
    func logout() async throws {
        let stages = #"{"local":"done","wipe":"skipped","revocation":"skipped","browser":"skipped"}"#
        let one = try BrokerCommandsTests.broker([
            "accounts.list": #"{"accounts":[\#(ScriptedAnswers.account())]}"#,
            "accounts.signOut": #"{"stages":\#(stages)}"#,
        ])
        let result = try await brokerctl(["logout", "--app", "mail"], at: one.path)
        #expect(result.output == "Account   ada@example.org\nThis app  signed out\n", "\(result)")
        let request = try #require(one.requests.last)
        #expect(request.description.hasPrefix(#"accounts.signOut {"account":{"id":"acc-1"},"app":"mail""#))

        let several = try brokerOfTwo()
        let refused = try await brokerctl(["logout"], at: several.path)
        #expect(refused.status == .exited(4))
        #expect(refused.errors.contains("name one: ada@example.org, eve@example.org"), "\(refused)")
        let nobody = try BrokerCommandsTests.broker(["accounts.list": #"{"accounts":[]}"#])
        #expect(try await brokerctl(["logout"], at: nobody.path).errors == "brokerctl: Nobody is signed in.\n")
    }

    @Test(
        "an unknown subcommand is reported with the nearest one",
        arguments: [
            (["tokn"], "brokerctl: There is no command tokn; did you mean token?\nbrokerctl help lists them all.\n"),
            (
                ["--socket", "/x", "accounts", "lst", "--json"],
                "brokerctl accounts: There is no command lst; did you mean list?\nbrokerctl help accounts lists them all.\n"
            ),
            (["help", "frobnicate"], "brokerctl: There is no command frobnicate.\nbrokerctl help lists them all.\n"),
        ])
    func unknownSubcommand(words: [String], message: String) async throws {
        let result = try await brokerctl(words)
        #expect(result.status == .exited(2) && result.errors == message, "\(result)")
    }

    @Test("help is readable in any number of columns", arguments: ["1", "20", "39", "40", "200"])
    func narrowHelp(columns: String) async throws {
        for arguments in [["accounts"], ["login", "--help"], ["help", "token"]] {
            let result = try await brokerctl(arguments, environment: ["COLUMNS": columns])
            #expect(result.status == .exited(arguments == ["accounts"] ? 2 : 0))
            #expect((result.output + result.errors).contains("USAGE: brokerctl"))
        }
    }
}

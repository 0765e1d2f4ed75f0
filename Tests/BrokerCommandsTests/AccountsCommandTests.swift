import BrokerTestSupport
import Foundation
import Testing

@Suite("brokerctl accounts")
struct AccountsCommandTests {
    /// Answers like a broker that knows one account, and logs what it is asked.
    private func broker(_ log: Recorder<String>) throws -> ScriptedBroker {
        try ScriptedBroker { peer in
            while let request = peer.request() {
                log.add("\(request.method) \(request.params)")
                switch request.method {
                case "accounts.get": peer.answer(request, #"{"account":\#(Self.guest)}"#)
                case "accounts.list": peer.answer(request, #"{"accounts":[\#(Self.guest)]}"#)
                default: peer.answer(request, #"{"removed":1}"#)
                }
            }
        }
    }

    private static let guest = ScriptedAnswers.account().replacing(
        #""later":"#,
        with: #""tenantProfiles":[{"tenantId":"t-1","authority":"https://idp/t-1","isHomeTenant":true},"#
            + #"{"tenantId":"t-2","authority":"https://idp/t-2","username":"ada#EXT","isHomeTenant":false}],"later":"#)

    @Test(
        "the accounts of an app without a registration are listed, shown and removed by client id and authority",
        arguments: [["list"], ["show", "ada"], ["remove", "ada"]])
    func adHoc(command: [String]) async throws {
        let log = Recorder<String>()
        let broker = try broker(log)
        let app = ["--client-id", "c", "--authority", "https://idp"]
        let result = try await brokerctl(["accounts"] + command + app, at: broker.path)
        #expect(result.status == .exited(0))
        #expect(log.all.count == 1)
        #expect(log.all.first?.contains(#""authority":"https:\/\/idp","clientId":"c""#) == true)
        #expect(log.all.first?.hasPrefix("accounts.\(command[0] == "show" ? "get" : command[0]) ") == true)
    }

    @Test(
        "half an app is a usage error, and so is a removal from no app",
        arguments: [
            ["list", "--client-id", "c"], ["list", "--authority", "https://idp"], ["remove", "ada"],
            ["list", "--app", "a", "--client-id", "c", "--authority", "https://idp"],
            ["sign-out", "ada", "--timeout", "0"],
        ])
    func usage(command: [String]) async throws {
        #expect(try await brokerctl(["accounts"] + command, at: "/nowhere").status == .exited(2))
    }

    @Test("where an account is a guest is shown")
    func guests() async throws {
        let broker = try broker(Recorder<String>())
        let result = try await brokerctl(["accounts", "show", "ada"], at: broker.path)
        #expect(result.output.contains(/Guest at +t-2: ada#EXT\n/))
        #expect(!result.output.contains(/Guest at +t-1/))
    }

    /// Announces the logout page, and answers when the sign-out is cancelled there.
    private func signingOut(_ log: Recorder<String>) throws -> ScriptedBroker {
        try ScriptedBroker { peer in
            var signOut: ScriptedRequest?
            while let request = peer.request() {
                switch request.method {
                case "accounts.get": peer.answer(request, #"{"account":\#(Self.guest)}"#)
                case "accounts.signOut":
                    signOut = request
                    log.add(request.params)
                    peer.notify(
                        "interaction.open",
                        ScriptedAnswers.opening(correlationId: request.string("correlationId") ?? ""))
                case "interaction.cancel":
                    log.add(request.params)
                    peer.answer(request, #"{"cancelled":true}"#)
                    guard let signOut else { return }
                    let stages = #"{"local":"done","wipe":"skipped","revocation":"done","browser":"done"}"#
                    peer.answer(signOut, #"{"stages":\#(stages)}"#)
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
            process.send(SIGINT)
            #expect(await process.exitStatus() == .exited(0))
            #expect(process.outputText == "This app  signed out\nProvider  signed out\nBrowser   left as it is\n")
        }
        let expected =
            #"{"account":{"id":"acc-1"},"app":"mail","correlationId":"c-1","fromBrowser":true,"revoke":true,"timeout":60}"#
        #expect(log.all == [expected, #"{"interactionId":"i-1"}"#])
    }

    @Test("help is readable in however few columns", arguments: ["1", "20", "39", "40", "200"])
    func narrowHelp(columns: String) async throws {
        for arguments in [["accounts"], ["login", "--help"], ["help", "token"]] {
            let result = try await brokerctl(arguments, environment: ["COLUMNS": columns])
            #expect(result.status == .exited(arguments == ["accounts"] ? 2 : 0))
            #expect((result.output + result.errors).contains("USAGE: brokerctl"))
        }
    }
}

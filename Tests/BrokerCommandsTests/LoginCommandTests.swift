import BrokerTestSupport
import Foundation
import Testing

@Suite("brokerctl login")
struct LoginCommandTests {
    private static let login = ["login", "--app", "mail", "--scope", "email"]
    private static let page = "https://idp.example.org/authorize?state=s"

    /// Announces a page, takes pasted redirects until one has the code, and answers the sign-in.
    private func broker(_ log: Recorder<String>) throws -> ScriptedBroker {
        let signIns = Recorder<(peer: ScriptedPeer, request: ScriptedRequest)>()
        return try ScriptedBroker { peer in
            while let request = peer.request() {
                guard request.method != "token.acquireInteractive" else {
                    log.add("\(request.method) \(request.string("prompt") ?? "") \(request.string("loginHint") ?? "")")
                    signIns.add((peer, request))
                    peer.notify("interaction.open", ScriptedAnswers.opening(url: Self.page, correlationId: "c-1"))
                    continue
                }
                log.add("\(request.method) \(request.string("url") ?? request.string("interactionId") ?? "")")
                if request.method == "interaction.cancel" {
                    peer.answer(request, #"{"cancelled":true}"#)
                } else if request.string("url")?.contains("code=1") == true {
                    peer.answer(request, #"{"accepted":true}"#)
                    for signIn in signIns.all { signIn.peer.answer(signIn.request, ScriptedAnswers.token("AT-1")) }
                } else {
                    peer.fail(request, "invalidParameter", message: "That address belongs to no sign-in.")
                }
            }
            // On a busy machine, another connection asks whether the broker is alive.
            if signIns.all.contains(where: { $0.peer === peer }) { log.add("left") }
        }
    }

    @Test("--instance-aware overrides the app's registration")
    func instanceAware() async throws {
        for option in [["--instance-aware"], []] {
            let log = Recorder<String>()
            let broker = try ScriptedBroker { peer in
                guard let request = peer.request() else { return }
                log.add(request.params)
                peer.answer(request, ScriptedAnswers.token("AT-1"))
                peer.waitForEnd()
            }
            let result = try await brokerctl(Self.login + option, at: broker.path)
            #expect(result.status == .exited(0))
            #expect(log.all.first?.contains(#""instanceAware":true"#) == !option.isEmpty)
            #expect(log.all.first?.contains("instanceAware") == !option.isEmpty)
        }
    }

    @Test("--manual prints the address on its own line and reads the redirect from standard input")
    func manual() async throws {
        let log = Recorder<String>()
        let broker = try broker(log)
        let result = try await brokerctl(
            Self.login + ["--manual", "--prompt", "select_account", "--login-hint", "ada"], at: broker.path,
            input: "\n  http://127.0.0.1:4000/?wrong \nhttp://127.0.0.1:4000/?code=1\n")
        #expect(result.status == .exited(0))
        #expect(result.lines.first == Self.page)
        #expect(result.output.contains("Signed in: Ada <ada@example.org> at idp.example.org."))
        #expect(!result.output.contains("AT-1"))
        #expect(result.errors.contains("begins with http://127.0.0.1:4000/"))
        #expect(result.errors.contains("That address belongs to no sign-in."))
        #expect(
            log.all.prefix(3) == [
                "token.acquireInteractive select_account ada", "interaction.complete http://127.0.0.1:4000/?wrong",
                "interaction.complete http://127.0.0.1:4000/?code=1",
            ])
    }

    @Test("every option of the request is sent as it was given")
    func options() async throws {
        let log = Recorder<String>()
        let broker = try ScriptedBroker { peer in
            guard let request = peer.request() else { return }
            log.add(request.params)
            peer.answer(request, ScriptedAnswers.token())
            peer.waitForEnd()
        }
        let claims = NSTemporaryDirectory() + "claims-\(UUID().uuidString).json"
        try Data((#"{"a":1}"# + "\n").utf8).write(to: URL(filePath: claims))
        defer { try? FileManager.default.removeItem(atPath: claims) }
        let result = try await brokerctl(
            Self.login + [
                "--login-hint", "ada", "--strict-login-hint", "--domain-hint", "example.org", "--max-age", "60",
                "--acr", "c1", "--acr", "c2", "--extra-scope", "files", "--query", "ui=dark=er", "--query", "empty=",
                "--pushed-authorization", "--resource", "https://a.example", "--resource", "urn:b", "--claims", claims,
                "--capability", "cp1",
            ], at: broker.path)
        #expect(result.status == .exited(0))
        let sent = try #require(log.all.first)
        for member in [
            #""loginHint":"ada""#, #""strictLoginHint":true"#, #""domainHint":"example.org""#, #""maxAge":60"#,
            #""acrValues":["c1","c2"]"#, #""extraScopesToConsent":["files"]"#, #""empty":"""#, #""ui":"dark=er""#,
            #""pushedAuthorization":true"#, #""resource":["https:\/\/a.example","urn:b"]"#,
            #""claims":"{\"a\":1}""#, #""clientCapabilities":["cp1"]"#,
        ] {
            #expect(sent.contains(member), "\(sent)")
        }
    }

    @Test("the account is looked up by name and sent with the other options")
    func account() async throws {
        let broker = try ScriptedBroker.answering {
            $0.method == "accounts.get" ? #"{"account":\#(ScriptedAnswers.account())}"# : ScriptedAnswers.token()
        }
        let options = [
            "--account", "ada", "--redirect-uri", "http://127.0.0.1:9/cb", "--token-type", "DPoP", "--correlation-id",
            "c-1", "--authority", "https://guests",
        ]
        #expect(try await brokerctl(Self.login + options, at: broker.path).status == .exited(0))
        let requests = broker.requests.map(\.description)
        #expect(requests.first == #"accounts.get {"account":{"username":"ada"},"app":"mail"}"#)
        let asked = #"""
            token.acquireInteractive {"account":{"id":"acc-1"},"app":"mail","authority":"https:\/\/guests",\#
            "correlationId":"c-1","redirectUri":"http:\/\/127.0.0.1:9\/cb","scopes":["email"],"tokenType":"DPoP"}
            """#
        #expect(requests.last == asked)
    }

    @Test("an unknown account is an error before a page opens")
    func unknownAccount() async throws {
        let broker = try BrokerCommandsTests.broker(["accounts.get": #"{"account":null}"#])
        let result = try await brokerctl(Self.login + ["--account", "eve"], at: broker.path)
        #expect(result.status == .exited(1))
        #expect(result.errors.contains("There is no account eve"))
    }

    @Test(
        "contradictory options are a usage error",
        arguments: [
            ["--strict-login-hint"], ["--account", "a", "--login-hint", "b"], ["--device-code", "--account", "a"],
            ["--device-code", "--private"], ["--max-age", "-1"], ["--query", "x"],
            ["--query", "a=1", "--query", "a=2"],
        ])
    func nonsense(options: [String]) async throws {
        let result = try await brokerctl(Self.login + options, at: "/nowhere")
        #expect(result.status == .exited(2))
    }

    @Test("a missing claims file is an error before any request")
    func noClaimsFile() async throws {
        let broker = try broker(Recorder<String>())
        let result = try await brokerctl(Self.login + ["--claims", "/nowhere/claims.json"], at: broker.path)
        #expect(result.status == .exited(1))
        #expect(result.errors.contains("/nowhere/claims.json"))
    }

    @Test("a sign-in whose page is open elsewhere says so and opens no page", arguments: [[], ["--no-browser"]])
    func joined(options: [String]) async throws {
        let broker = try ScriptedBroker { peer in
            guard let request = peer.request() else { return }
            peer.notify("interaction.joined", #"{"interactionId":"i","expiresOn":1900000000,"correlationId":"c-1"}"#)
            peer.answer(request, ScriptedAnswers.token())
            peer.waitForEnd()
        }
        let result = try await brokerctl(Self.login + options, at: broker.path, environment: ["BROWSER": "false"])
        #expect(result.status == .exited(0))
        #expect(result.errors.contains("already open elsewhere"))
        #expect(result.output.contains("Signed in"))
    }

    @Test("--json prints only the result on standard output")
    func json() async throws {
        let broker = try broker(Recorder<String>())
        let result = try await brokerctl(
            Self.login + ["--manual", "--json"], at: broker.path, input: "http://127.0.0.1:4000/?code=1\n")
        #expect(result.output == ScriptedAnswers.token("AT-1") + "\n")
        #expect(result.errors.contains(Self.page + "\n"))
    }

    @Test("the end of standard input cancels the sign-in and says so")
    func endOfInput() async throws {
        let log = Recorder<String>()
        let broker = try broker(log)
        let result = try await brokerctl(Self.login + ["--manual"], at: broker.path, input: "")
        #expect(result.status == .exited(1))
        #expect(result.errors.contains("Standard input ended before a redirect was pasted"))
        try await eventually("the broker sees the client leave") { log.all.last == "left" }
    }

    @Test("a signal cancels the sign-in and determines the exit status", arguments: [SIGINT, SIGTERM])
    func interrupted(_ signal: Int32) async throws {
        let log = Recorder<String>()
        let broker = try broker(log)
        try await withTestBed { bed in
            let process = try bed.start(
                Launch(
                    try PackageTree.program("brokerctl"), ["--socket", broker.path] + Self.login + ["--no-browser"]),
                as: "brokerctl")
            try await process.waitForText(Self.page)
            process.send(signal)
            #expect(await process.exitStatus() == .exited(128 + signal))
            #expect(process.errorText.contains("The sign-in was canceled"))
        }
        try await eventually("the broker sees the client leave") { log.all.last == "left" }
    }

    @Test("the browser in $BROWSER is started with the page")
    func browser() async throws {
        let broker = try broker(Recorder<String>())
        try await withTestBed { bed in
            let seen = bed.path("seen")
            let script = bed.path("browser")
            try #"printf '%s' "$2" > '\#(seen)'"#.write(toFile: script, atomically: true, encoding: .utf8)
            let process = try bed.start(
                Launch(
                    try PackageTree.program("brokerctl"), ["--socket", broker.path] + Self.login,
                    environment: ["BROWSER": "sh '\(script)' --new"]), as: "brokerctl")
            try await process.waitForText("Your browser shows the sign-in page")
            #expect(try String(contentsOfFile: seen, encoding: .utf8) == Self.page)
            try await process.waitForText(Self.page)
            process.send(SIGINT)
            _ = await process.exitStatus()
        }
    }

    @Test(
        "--browser and --private open the page without a shell",
        arguments: [
            (["--browser", "firefox 'a b' $HOME --at=%u"], "a b|$HOME|--at=\(page)|"),
            (["--private"], "--private-window|\(page)|"),
        ])
    func window(options: [String], expected: String) async throws {
        let broker = try broker(Recorder<String>())
        try await withTestBed { bed in
            try await programs(in: bed, defaultBrowser: "firefox-esr.desktop")
            let process = try bed.start(
                Launch(
                    try PackageTree.program("brokerctl"), ["--socket", broker.path] + Self.login + options,
                    environment: ["PATH": bed.path("bin") + ":/usr/bin:/bin"]), as: "brokerctl")
            try await process.waitForText("Your browser shows the sign-in page")
            #expect(try String(contentsOfFile: bed.path("seen"), encoding: .utf8) == expected)
            process.send(SIGINT)
            _ = await process.exitStatus()
        }
    }

    @Test("a default browser without known private windows is reported, and only the address shown")
    func unknownBrowser() async throws {
        try await withTestBed { bed in
            try await programs(in: bed, defaultBrowser: "lynx.desktop")
            let errors = try await byHand(["--private"], path: bed.path("bin") + ":/usr/bin:/bin")
            #expect(errors.contains("lynx.desktop"))
            #expect(!FileManager.default.fileExists(atPath: bed.path("seen")))
        }
    }

    /// Firefox, under both of its names, as the desktop's default browser.
    private func programs(in bed: TestBed, defaultBrowser: String) async throws {
        let firefox = "#!/bin/sh\nprintf '%s|' \"$@\" > '\(bed.path("seen"))'\n"
        try await bed.install(firefox, as: "firefox")
        try await bed.install(firefox, as: "firefox-esr")
        try await bed.install("#!/bin/sh\necho \(defaultBrowser)\n", as: "xdg-settings")
    }

    @Test("without a browser, the address is shown with two other ways to sign in")
    func noBrowser() async throws {
        let errors = try await byHand([], path: "/nonexistent")
        #expect(errors.contains("No browser could be started (tried /nonexistent, xdg-open)"))
        #expect(try await byHand(["--browser", "nosuch --new"], path: "/nonexistent").contains("(tried nosuch)"))
    }

    @Test("the output of a failing xdg-open is not shown")
    func noise() async throws {
        try await withTestBed { bed in
            try await bed.install("#!/bin/sh\necho noise\necho noise >&2\nexit 3\n", as: "xdg-open")
            #expect(try await !byHand([], path: bed.path("bin") + ":/usr/bin:/bin").contains("noise"))
        }
    }

    /// Without a display, the real one looks for terminal browsers, which exit with 0 although no page is visible.
    @Test("a terminal browser does not count as showing the page")
    func textBrowser() async throws {
        try await withTestBed { bed in
            try await bed.install("#!/bin/sh\nexec ${BROWSER:-true}\n", as: "xdg-open")
            let errors = try await byHand([], path: bed.path("bin") + ":/usr/bin:/bin", browser: "")
            #expect(errors.contains("(tried xdg-open)"))
        }
    }

    /// Runs `login` without a browser until it is cancelled, and returns its output.
    private func byHand(_ options: [String], path: String, browser: String = "/nonexistent") async throws -> String {
        let log = Recorder<String>()
        let broker = try broker(log)
        return try await withTestBed { bed in
            let process = try bed.start(
                Launch(
                    try PackageTree.program("brokerctl"), ["--socket", broker.path] + Self.login + options,
                    environment: ["BROWSER": browser, "PATH": path]), as: "brokerctl")
            try await process.waitForText("--manual")
            let command = "  brokerctl --socket \(broker.path) login --app mail --scope email"
            #expect(process.outputText == Self.page + "\n")
            #expect(process.errorText.contains("\(command) --device-code\n\(command) --manual\n"))
            #expect(process.isRunning && !log.all.contains("left"))
            process.send(SIGINT)
            #expect(await process.exitStatus() == .exited(130))
            return process.errorText
        }
    }

    @Test("a sign-in without interaction opens no page")
    func alreadyThere() async throws {
        let broker = try ScriptedBroker.answering { _ in ScriptedAnswers.token(expiresOn: 0) }
        let result = try await brokerctl(Self.login + ["--prompt", "none"], at: broker.path)
        #expect(result.status == .exited(0))
        #expect(result.output.hasPrefix("Signed in: Ada <ada@example.org> at idp.example.org.\n"))
        #expect(result.output.contains(" ago.\n"))
    }
}

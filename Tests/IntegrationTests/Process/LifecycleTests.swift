import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("brokerd as a process", .serialized) struct LifecycleTests {
    @Test("SIGTERM lets a running refresh finish and answers it, accepts no new client, and ends with status 0")
    func drains() async throws {
        try await withTestBed { bed in
            var scene = try await DevelopmentScene.signedIn(in: bed)
            let (provider, broker) = (scene.provider, scene.broker)
            provider.add(Fault(.token, .slow, delay: 0, isHeld: true))
            let connection = try await broker.connect()
            let call = Task {
                try await connection.call(
                    "token.acquireSilent",
                    ["app": "notes", "scopes": [.string(DevelopmentScene.scope)], "forceRefresh": true])
            }
            try await eventually("the refresh is under way") { provider.refreshes == 1 }
            broker.process.send(SIGTERM)
            try await eventually("it accepts no new client") {
                guard let client = try? await broker.connectRaw() else { return true }
                await client.close()
                return false
            }
            #expect(broker.process.isRunning)
            provider.removeFaults()
            let token = try await call.value
            #expect(token[path: "fromCache"] == false)
            #expect(await broker.process.exitStatus() == .exited(0))

            // The next broker finds the returned token.
            try await scene.startAgain()
            #expect(try await scene.silent()[path: "accessToken"] == token[path: "accessToken"])
        }
    }

    @Test("SIGTERM lets a code that is being redeemed bring its tokens, although its client has gone")
    func drainsSignIn() async throws {
        try await withTestBed { bed in
            var scene = try await DevelopmentScene.make(in: bed)
            let (provider, broker) = (scene.provider, scene.broker)
            provider.add(Fault(.token, .slow, delay: 0, isHeld: true))
            let client = try await broker.connect()
            let call = Task {
                try await client.call(
                    "token.acquireInteractive",
                    DevelopmentScene.notes)
            }
            let opening = try #require(await client.nextNotification())
            let redirect = try await provider.signIn(.alice, at: opening.text("params.url"), in: bed)
            _ = try await broker.call("interaction.complete", ["url": .string(redirect.url)])
            try await eventually("the code is redeemed") { provider.log.contains { $0.endpoint == .token } }
            await client.close()
            await #expect(throws: (any Error).self) { try await call.value }
            broker.process.send(SIGTERM)
            try await eventually("it accepts no new client") {
                guard let client = try? await broker.connectRaw() else { return true }
                await client.close()
                return false
            }
            provider.removeFaults()
            #expect(await broker.process.exitStatus() == .exited(0))

            try await scene.startAgain()
            #expect(try await scene.silent()[path: "fromCache"] == true)
        }
    }

    @Test(
        "a provider that hangs does not delay a stop, and the next broker retries the refresh once"
    )
    func givesUp() async throws {
        try await withTestBed { bed in
            // Longer than the suite may take.
            var scene = try await DevelopmentScene.signedIn(
                in: bed, policy: { $0.reuseGrace = 600 },
                options: { $0.configuration = "oauth.request_timeout = 600\n" })
            let (provider, broker) = (scene.provider, scene.broker)
            let refresh: JSONObject = [
                "app": "notes", "scopes": [.string(DevelopmentScene.scope)], "forceRefresh": true,
            ]
            provider.add(Fault(.token, .slow, delay: 0, isHeld: true))
            let connection = try await broker.connect()
            let call = Task { try await connection.call("token.acquireSilent", refresh) }
            try await eventually("the refresh is under way") { provider.refreshes == 1 }
            broker.process.send(SIGTERM)
            await #expect(throws: (any Error).self) { try await call.value }
            #expect(await broker.process.exitStatus() == .exited(0))
            #expect(broker.process.errorText.contains("requests to providers were given up"))

            provider.removeFaults()
            try await scene.startAgain()
            let token = try await scene.broker.call("token.acquireSilent", refresh)
            #expect(token[path: "fromCache"] == false && provider.refreshes == 2)
        }
    }

    @Test("a request for a sign-in that has ended does not delay a stop either")
    func givesUpPushedRequest() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(
                in: bed, options: { $0.configuration = "oauth.request_timeout = 600\n" })
            let (provider, broker) = (scene.provider, scene.broker)
            provider.add(Fault(.par, .slow, delay: 0, isHeld: true))
            let connection = try await broker.connect()
            let call = Task {
                try await connection.call(
                    "token.acquireInteractive",
                    ["app": "notes", "scopes": [.string(DevelopmentScene.scope)], "pushedAuthorization": true])
            }
            try await eventually("the request is pushed") { provider.log.count { $0.endpoint == .par } == 1 }
            broker.process.send(SIGTERM)
            await #expect(throws: (any Error).self) { try await call.value }
            #expect(await broker.process.exitStatus() == .exited(0))
            #expect(broker.process.errorText.contains("requests to providers were given up"))
            provider.removeFaults()
        }
    }

    @Test("a waiting sign-in gets an error at SIGTERM, and does not delay the shutdown")
    func cancelsInteraction() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let broker = scene.broker
            let refusal = await #expect(throws: (any Error).self) {
                try await broker.interact(app: "notes", scopes: [DevelopmentScene.scope]) { _ in
                    broker.process.send(SIGTERM)
                    return nil
                }
            }
            #expect(await broker.process.exitStatus() == .exited(0))
            #expect(refusal is Refusal, "\(String(describing: refusal))")
        }
    }

    @Test("accounts, apps and tokens outlive a restart, and their file contains none of their names")
    func restart() async throws {
        try await withTestBed { bed in
            var scene = try await DevelopmentScene.make(in: bed)
            let signIn = try await scene.signIn()
            let before = try await scene.broker.call("accounts.list")
            try await scene.restart()
            #expect(try await scene.broker.call("accounts.list") == before)
            #expect(try await scene.silent()[path: "accessToken"] == .string(signIn.accessToken))
            #expect(try await scene.broker.call("apps.list")[path: "apps"].arrayValue?.map { $0["name"] } == ["notes"])

            let traces = ["alice", "demo-one", "notes", signIn.accessToken, signIn.token.text("account.homeAccountId")]
            for (file, bytes) in try snapshot(of: scene.broker.stateDirectory) {
                for trace in traces where !trace.isEmpty {
                    #expect(bytes.firstRange(of: Data(trace.utf8)) == nil, "\(trace) stands in \(file)")
                }
            }
        }
    }

    @Test("SIGHUP applies a changed configuration, and a broken one changes nothing")
    func reload() async throws {
        try await withTestBed { bed in
            let broker = try await BrokerProcess.start(in: bed) {
                $0.configuration = "[access]\nallow_ad_hoc_clients = true\n"
            }
            let file = try #require(broker.configurationFile)
            let adHoc: JSONObject = [
                "clientId": "any", "authority": "http://127.0.0.1:9/", "scopes": [.string(DevelopmentScene.scope)],
            ]
            await expectRefusal("interactionRequired") { try await broker.call("token.acquireSilent", adHoc) }

            func reload(_ text: String) throws {
                try text.write(toFile: file, atomically: true, encoding: .utf8)
                broker.process.send(SIGHUP)
            }
            try reload("[access]\nallow_ad_hoc_clients = false\n")
            try await eventually("ad hoc clients are refused") {
                do {
                    _ = try await broker.call("token.acquireSilent", adHoc)
                } catch let refusal as Refusal {
                    return refusal.kind == "accessDenied" && refusal.reason == "adHocForbidden"
                }
                return false
            }
            try reload("[access]\nallow_ad_hoc_clients = \"maybe\"\n")
            try await eventually("the broker says what is wrong") {
                broker.process.errorText.contains("allow_ad_hoc_clients")
            }
            await expectRefusal("accessDenied") { try await broker.call("token.acquireSilent", adHoc) }
        }
    }

    @Test(
        "mistakes in the command line or the configuration are reported, with status 2",
        arguments: [
            (["--no-such-option"], "no-such-option"), (["--log-level", "loud"], "loud"),
            (["--config", "/nowhere/broker.toml"], "/nowhere/broker.toml"),
            (["--ca-file", "/nowhere/ca.pem"], "/nowhere/ca.pem"),
        ])
    func usage(arguments: [String], named: String) async throws {
        try await withTestBed { bed in
            let result = try await BrokerProcess.run(in: bed) { $0.arguments = arguments }
            #expect(result.status == .exited(2), "\(result)")
            #expect(result.errors.contains(named), "\(result)")
        }
    }

    @Test("a mistake in the configuration is named with its file, with status 2, also by --check-config")
    func configuration() async throws {
        try await withTestBed { bed in
            for (text, named) in [
                ("[access]\nallow_adhoc_clients = true\n", "allow_adhoc_clients"),
                ("[cache]\nexpiry_buffer = \"soon\"\n", "expiry_buffer"), ("[cache\n", "broker.toml"),
            ] {
                for arguments in [[], ["--check-config"]] {
                    let result = try await BrokerProcess.run(in: bed) {
                        $0.configuration = text
                        $0.arguments = arguments
                    }
                    #expect(result.status == .exited(2), "\(result)")
                    #expect(result.errors.contains(named), "\(result)")
                }
            }
            let authorities = bed.path("ca.pem")
            try "no certificate\n".write(toFile: authorities, atomically: true, encoding: .utf8)
            for file in [authorities, "/nowhere/ca.pem"] {
                let start = try await BrokerProcess.run(in: bed) { $0.arguments = ["--ca-file", file] }
                let check = try await BrokerProcess.run(in: bed) {
                    $0.arguments = ["--ca-file", file, "--check-config"]
                }
                #expect(check.status == .exited(2) && check.errors == start.errors, "\(check) \(start)")
                #expect(check.errors.contains(file) && check.output.contains("oauth.ca_file = \(file) "), "\(check)")
            }
            let good = try await BrokerProcess.run(in: bed) {
                $0.configuration = "[cache]\nexpiry_buffer = 60\n"
                $0.arguments = ["--check-config"]
            }
            #expect(good.succeeded, "\(good)")
        }
    }

    @Test("text in a configuration cannot steer the terminal, forge a line or hide in errors")
    func hostileConfiguration() async throws {
        try await withTestBed { bed in
            for (text, status) in [
                (#"browser.command = ["\u001b[2Ja\nvault.state_dir = /x", "b\u3164\u202e"]"#, ExitStatus.exited(0)),
                (#""a\u001b[2J\nbrokerd: all is well\u3164" = 1"#, .exited(2)),
                (#"log.level = "\u001b[2J\nbrokerd: all is well\u3164""#, .exited(2)),
            ] {
                let result = try await BrokerProcess.run(in: bed) {
                    $0.configuration = text + "\n"
                    $0.arguments = ["--check-config"]
                }
                let shown = result.output + result.errors
                #expect(result.status == status, "\(result)")
                #expect(shown.unicodeScalars.allSatisfy { $0 == "\n" || $0.isSafeToShow }, "\(result)")
                #expect(!shown.contains("\nvault.state_dir = /x") && !shown.contains("\nbrokerd: all is well"))
                #expect(shown.contains(#"\u{1b}[2J"#), "\(result)")
            }
            let argument = try await BrokerProcess.run(in: bed) {
                $0.arguments = ["--a\u{1b}[2J\nbrokerd: all is well"]
            }
            #expect(argument.errors.contains(#"--a\u{1b}[2J\u{a}brokerd: all is well"#), "\(argument)")
        }
    }

    @Test("a second broker with the same socket or state does not start, and does not disturb the first")
    func second() async throws {
        try await withTestBed { bed in
            let first = try await BrokerProcess.start(in: bed)
            for (arguments, state) in [
                (["--socket", first.socket], nil), ([], first.stateDirectory),
            ] as [([String], String?)] {
                let result = try await BrokerProcess.run(in: bed) {
                    $0.arguments = arguments
                    $0.stateDirectory = state
                }
                #expect(result.status != .exited(0), "\(result)")
                #expect(!result.errors.isEmpty)
                _ = try await first.call("broker.status")
            }
        }
    }

    @Test("a path on the command line is relative to the folder of the command")
    func relativePaths() async throws {
        try await withTestBed { bed in
            let place = try bed.makeDirectory("elsewhere")
            let report = try await BrokerProcess.run(in: bed) {
                $0.wrapper = ["/usr/bin/env", "-C", place]
                $0.arguments = ["--socket", "run/b.sock", "--state-dir", "./state", "--check-config"]
            }
            #expect(report.succeeded, "\(report)")
            #expect(report.output.contains("socket.path = \(place)/run/b.sock "))
            #expect(report.output.contains("vault.state_dir = \(place)/./state "))
        }
    }
}

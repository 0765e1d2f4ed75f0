import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

/// `brokerctl` as scripts see it: exit statuses, output streams, and JSON.
@Suite("brokerctl", .serialized) struct BrokerctlTests {
    private func json(_ result: CommandResult, sourceLocation: SourceLocation = #_sourceLocation) throws -> JSONValue {
        do {
            return try JSONDecoder().decode(JSONValue.self, from: result.outputData)
        } catch {
            Issue.record("Not JSON: \(result)", sourceLocation: sourceLocation)
            throw error
        }
    }

    @Test("a missing broker is reported with status 3, and wrong usage with status 2")
    func statusesWithoutBroker() async throws {
        try await withTestBed { bed in
            let program = try PackageTree.program("brokerctl")
            let absent = try await bed.run(Launch(program, ["--socket", bed.path("none.sock"), "status"]))
            #expect(absent.status == .exited(3), "\(absent)")
            #expect(absent.errors.contains("none.sock"))
            #expect(absent.output.isEmpty)
            for arguments in [["no-such-command"], ["status", "--no-such-option"], ["token"]] {
                let result = try await bed.run(Launch(program, arguments))
                #expect(result.status == .exited(2), "\(arguments): \(result)")
                #expect(!result.errors.isEmpty)
            }
        }
    }

    @Test("the broker's refusal is printed on stderr, or as the error object on stdout with --json")
    func refusals() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let asking = ["token", "--app", "notes", "--scope", DevelopmentScene.scope]
            let plain = try await scene.broker.ctl(asking)
            #expect(plain.status == .exited(4), "\(plain)")
            #expect(plain.output.isEmpty)
            #expect(!plain.errors.isEmpty)
            let object = try await scene.broker.ctl(["--json"] + asking)
            #expect(object.status == .exited(4))
            let error = try json(object)
            #expect(
                [error["error.data.kind"], error["data.kind"], error["kind"]].contains("interactionRequired"),
                "\(error)")

            let unknown = try await scene.broker.ctl(["token", "--app", "nobody", "--scope", DevelopmentScene.scope])
            #expect(unknown.status == .exited(1), "\(unknown)")
            #expect(unknown.errors.contains("brokerctl apps add"), "\(unknown)")
        }
    }

    @Test("an app restricted to certain programs refuses any other, with status 5")
    func accessDenied() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            try await scene.register("closed", ["executables": ["/usr/bin/closed-app"]])
            let result = try await scene.broker.ctl(["token", "--app", "closed", "--scope", DevelopmentScene.scope])
            #expect(result.status == .exited(5), "\(result)")
            await expectRefusal("accessDenied", reason: "callerNotListed") { try await scene.silent(app: "closed") }
        }
    }

    @Test("apps are added, listed and removed by name")
    func apps() async throws {
        try await withTestBed { bed in
            let broker = try await BrokerProcess.start(in: bed)
            let added = try await broker.ctl([
                "apps", "add", "mail", "--client-id", "native", "--authority", "https://login.example.org/",
                "--no-check", "--group",
                "office",
            ])
            #expect(added.succeeded, "\(added)")
            let listed = try json(try await broker.ctl(["--json", "apps", "list"]))["apps"].arrayValue
            #expect(listed?.map { $0["name"] } == ["mail"])
            #expect(listed?.first?["group"] == "office")
            let table = try await broker.ctl(["apps", "list"])
            #expect(table.output.contains("mail"))
            #expect(!table.output.contains("\u{1B}"), "Colours are for terminals.")
            #expect(try await broker.ctl(["apps", "remove", "mail"]).succeeded)
            #expect(try await broker.ctl(["apps", "remove", "mail"]).status == .exited(1))
        }
    }

    @Test("apps add shows the provider's features, refuses another server, and warns without a response")
    func lookedAt() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            func add(_ name: String, _ authority: String, _ more: String...) async throws -> CommandResult {
                try await scene.broker.ctl(
                    ["apps", "add", name, "--client-id", "demo-one", "--authority", authority] + more)
            }
            let found = try await add("found", scene.provider.issuer)
            #expect(found.succeeded && found.output.contains("device codes"), "\(found)")
            let nobody = "http://127.0.0.1:\(try FreePort.next())"
            let refused = try await add("typo", scene.provider.issuer + "/nothing/here")
            #expect(refused.status == .exited(1) && refused.errors.contains("--no-check"), "\(refused)")
            #expect(refused.errors.contains("127.0.0.1"), "\(refused)")
            #expect(try await !scene.broker.ctl(["apps", "list"]).output.contains("typo"))
            let unseen = try await add("offline", nobody)
            #expect(unseen.succeeded && unseen.errors.contains("could not be checked: "), "\(unseen)")
            let unchecked = try await add("unchecked", nobody, "--no-check")
            #expect(unchecked.succeeded && unchecked.errors.isEmpty, "\(unchecked)")
            let log = try await scene.broker.ctl(["audit", "--app", "found"])
            #expect(log.output.contains("apps.register"), "\(log)")
        }
    }

    @Test("logout prints the person's name, for any name of the account")
    func logout() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let id = try await scene.signIn().token.text("account.id")
            let out = try await scene.broker.ctl(["logout", id, "--app", "notes"])
            #expect(out.succeeded && out.output.hasPrefix("Account   alice\n"), "\(out)")
            #expect(!out.output.contains(id), "\(out)")
        }
    }

    @Test("the examples' person signs in without a display")
    func person() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let program = PackageTree.root.appending(path: "Sources/Examples/person").path
            for name in ["alice", "bob"] {
                let login = try scene.broker.startCtl(
                    ["login", "--app", "notes", "--scope", DevelopmentScene.scope, "--prompt", "login"],
                    environment: ["BROWSER": program, "PERSON": name])
                #expect(await login.exitStatus() == .exited(0), "\(login.logTail)")
                #expect(login.outputText.contains("<\(name)>"), "\(login.logTail)")
            }
        }
    }

    @Test("a broker that is started by hand prints its socket")
    func place() async throws {
        try await withTestBed { bed in
            let broker = try await BrokerProcess.start(in: bed)
            try await broker.process.waitForText("ready socket=\(broker.socket)")
        }
    }

    /// Starts `login` with these options and waits for the URL that it prints.
    private func startLogin(
        _ scene: DevelopmentScene, _ options: [String], environment: [String: String] = [:]
    ) async throws -> (ManagedProcess, String) {
        let arguments = ["login", "--app", "notes", "--scope", DevelopmentScene.scope] + options
        let login = try scene.broker.startCtl(arguments, environment: environment)
        let url = try await awaited("brokerctl prints the URL") {
            try login.requireRunning()
            return (login.outputText + login.errorText).firstMatch(of: /http:\S+\/authorize\S+/)
        }
        return (login, String(url.output))
    }

    @Test("login --no-browser prints the URL, waits, prints the account, and then tokens come in any format")
    func loginAndToken() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let (login, url) = try await startLogin(scene, ["--no-browser"])
            let redirect = try await scene.provider.signIn(.alice, at: url, in: bed)
            _ = try await HTTPSession(in: bed).get(redirect.url)
            #expect(await login.exitStatus() == .exited(0), "\(login.logTail)")
            #expect((login.outputText + login.errorText).contains("Alice Example"))

            let asking = ["token", "--app", "notes", "--scope", DevelopmentScene.scope]
            let token = try await scene.silent().text("accessToken")
            let raw = try await scene.broker.ctl(asking)
            #expect(raw.output == "\(token)\n", "\(raw)")
            #expect(raw.errors.isEmpty)
            #expect(try await scene.broker.ctl(asking + ["--format", "raw"]).output == raw.output)
            let header = try await scene.broker.ctl(asking + ["--format", "header"]).output
            #expect(header == "Authorization: Bearer \(token)\n")
            let object = try json(try await scene.broker.ctl(asking + ["--format", "json"]))
            #expect(object["accessToken"] == .string(token))
            #expect(object["account.username"] == "alice")
            #expect(try json(try await scene.broker.ctl(["--json"] + asking))["accessToken"] == .string(token))
            let environment = try await scene.broker.ctl(asking + ["--format", "env"]).output
            #expect(environment.contains(token) && environment.contains("="))
            // The format of SASL XOAUTH2: user and token between control characters, in base64.
            let sasl = try await scene.broker.ctl(asking + ["--format", "xoauth2"]).output
            let decoded = Data(base64Encoded: sasl.trimmingCharacters(in: .whitespacesAndNewlines))
            #expect(
                decoded.map { String(decoding: $0, as: UTF8.self) } == "user=alice\u{1}auth=Bearer \(token)\u{1}\u{1}")
            let forced = try await scene.broker.ctl(asking + ["--account", "alice", "--force-refresh"])
            #expect(forced.succeeded && forced.output != raw.output)
        }
    }

    @Test("login --manual reads the redirect URL from standard input, for a machine without a browser")
    func manual() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let (login, url) = try await startLogin(scene, ["--manual"])
            let redirect = try await scene.provider.signIn(.bob, at: url, in: bed)
            try login.write("\(redirect.url)\n")
            #expect(await login.exitStatus() == .exited(0), "\(login.logTail)")
            let listed = try json(try await scene.broker.ctl(["--json", "accounts", "list"]))["accounts"].arrayValue
            #expect(listed?.map { $0["username"] } == ["bob"])
            let shown = try await scene.broker.ctl(["accounts", "list"])
            #expect(shown.output.contains("bob"))
            let removed = try await scene.broker.ctl(["accounts", "remove", "bob", "--app", "notes"])
            #expect(removed.succeeded, "\(removed)")
            #expect(
                try await scene.broker.ctl(["token", "--app", "notes", "--scope", DevelopmentScene.scope]).status
                    == .exited(4))
        }
    }

    @Test("login opens the program in $BROWSER, with the URL as its only argument")
    func browserVariable() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let browser = bed.path("browser")
            let opened = bed.path("opened")
            try "#!/bin/sh\nprintf '%s\\n' \"$#\" \"$1\" >'\(opened).new' && mv '\(opened).new' '\(opened)'\n"
                .write(toFile: browser, atomically: true, encoding: .utf8)
            #expect(chmod(browser, 0o700) == 0)
            let arguments = ["login", "--app", "notes", "--scope", DevelopmentScene.scope]
            let login = try scene.broker.startCtl(arguments, environment: ["BROWSER": browser])
            try await eventually("the browser is started") {
                try login.requireRunning()
                return FileManager.default.fileExists(atPath: opened)
            }
            let lines = try String(contentsOfFile: opened, encoding: .utf8).split(separator: "\n").map(String.init)
            #expect(lines.count == 2 && lines.first == "1", "\(lines)")
            let redirect = try await scene.provider.signIn(.alice, at: lines.last ?? "", in: bed)
            _ = try await HTTPSession(in: bed).get(redirect.url)
            #expect(await login.exitStatus() == .exited(0), "\(login.logTail)")
        }
    }

    @Test("status has a format for people, and JSON for scripts")
    func status() async throws {
        try await withTestBed { bed in
            let broker = try await BrokerProcess.start(in: bed)
            let plain = try await broker.ctl(["status"])
            #expect(plain.succeeded && plain.output.contains(broker.stateDirectory), "\(plain)")
            let object = try json(try await broker.ctl(["--json", "status"]))
            #expect(object["protocol"] == 1)
            #expect(object["mode"] == "user")
            #expect(object["locked"] == false)
            #expect(object["vault.keySource"].stringValue?.isEmpty == false)
            #expect(object["vault.path"].stringValue?.hasPrefix(broker.stateDirectory) == true)
        }
    }
}

import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("brokerctl ssh, with a real ssh and a real sshd", .serialized)
struct SSHTests {
    /// A broker with a signed-in person, and a machine to log in to.
    struct Scene {
        var near: DevelopmentScene
        var far: FarMachine

        static func make(
            in bed: TestBed, users: [FarMachine.User] = [FarMachine.user], settings: [String] = [],
            configuration: [String] = []
        ) async throws -> Scene {
            let near = try await DevelopmentScene.signedIn(in: bed)
            let far = try await FarMachine.start(
                in: bed, users: users, settings: settings, configuration: configuration)
            return Scene(near: near, far: far)
        }

        private func launch(_ words: [String]) throws -> Launch {
            Launch(
                try PackageTree.program("brokerctl"), ["--socket", near.broker.socket, "ssh"] + words,
                environment: far.environment)
        }

        func run(_ words: String..., input: String? = nil) async throws -> CommandResult {
            try await near.bed.run(launch(["--app", "notes"] + words), input: input)
        }

        /// A login that continues until its input ends.
        func start(_ words: String..., as name: String) throws -> ManagedProcess {
            var launch = try launch(["--app", "notes"] + words)
            launch.hasInput = true
            return try near.bed.start(launch, as: name)
        }

        /// In a session without a runtime directory.
        func terminal(_ words: String...) async throws -> Terminal {
            var launch = try launch(["--app", "notes"] + words)
            launch.environment["XDG_RUNTIME_DIR"] = nil
            return try await Terminal.start(launch, columns: 90, rows: 20, in: near.bed)
        }

        func sandboxes() async throws -> Int {
            try await near.broker.call("sandboxes.list")[path: "sandboxes"].arrayValue?.count ?? -1
        }
    }

    /// Prints the path of its socket, and stays until its input ends.
    static let stay = "echo at $BROKER_SOCKET.; cat > /dev/null"

    static func socket(of login: ManagedProcess) throws -> String {
        let text = try #require(login.outputText.split(separator: "at ").last?.split(separator: ".\n").first)
        return String(text)
    }

    static func folder(of login: ManagedProcess) throws -> String {
        (try socket(of: login) as NSString).deletingLastPathComponent
    }

    func eventuallyGone(_ path: String) async throws {
        try await eventually("\(path) is gone") { !FileManager.default.fileExists(atPath: path) }
    }

    // MARK: The forwarded rights

    @Test("another user there gets the app's token and nothing else, and nothing is left afterwards", .needsRoot)
    func story() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed)
            try await scene.near.register("bank")
            var lines = [
                try requestLine("token.acquireSilent", DevelopmentScene.notes), try requestLine("broker.status"),
                try requestLine("token.acquireSilent", ["app": "bank", "scopes": ["a"]]),
                try requestLine("token.acquireInteractive", DevelopmentScene.notes),
            ]
            for method in ["accounts.list", "sandboxes.open", "grants.list", "apps.register", "broker.lock"] {
                lines.append(try requestLine(method, method == "accounts.list" ? ["app": "notes"] : [:]))
            }
            let place = "stat -c '%a %F %u %n' \"$(dirname \"$BROKER_SOCKET\")\" \"$BROKER_SOCKET\";"
            let result = try await scene.run(
                "devbox", place, quoted(["/usr/bin/python3", "-c", SandboxClient.script] + lines))
            #expect(result.succeeded, "\(result)")
            let output = result.output.split(separator: "\n").map(String.init)
            try #require(output.count == lines.count + 2, "\(result)")
            #expect(output[0].hasPrefix("700 directory \(FarMachine.user.uid) /tmp/brokerctl-"))
            #expect(output[1].hasPrefix("600 socket \(FarMachine.user.uid) "))
            let answers = try answers(in: output[2...].joined(separator: "\n"))
            #expect(answers[0][path: "result.fromCache"] == true)
            #expect(answers[1][path: "result.caller.id"] == "ssh:devbox")
            #expect(answers[1][path: "result.caller.tier"] == "sandboxed")
            for answer in answers[2...] { #expect(answer[path: "error.data.kind"] == "accessDenied", "\(answer)") }
            let folder = try #require(output[0].split(separator: " ").last.map(String.init))
            #expect(!FileManager.default.fileExists(atPath: folder))
            #expect(try FileManager.default.contentsOfDirectory(atPath: scene.far.home()) == [])
            #expect(try await scene.sandboxes() == 0)
            #expect(scene.far.logins == 1, "the person is asked for a password once")
            #expect(try scene.far.leftovers() == [])
            let audit = try await scene.near.broker.ctl(["audit"])
            #expect(audit.output.contains("ssh:devbox"))
        }
    }

    @Test("brokerctl and the client for Python find the socket there, and trust it", .needsRoot)
    func clients() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed)
            let program = try bed.sharedProgram("brokerctl")
            let token = ["token", "--app", "notes", "--scope", DevelopmentScene.scope]
            let printed = try await scene.run("devbox", quoted([program] + token))
            let here = try await scene.near.broker.ctl(token)
            #expect(printed.succeeded && printed.output == here.output, "\(printed)")
            let refused = try await scene.run("devbox", quoted([program, "grants", "list"]))
            #expect(refused.status == .exited(5), "\(refused)")
            let package = "\(scene.far.programs)/python"
            try await bed.require("cp", ["-r", PackageTree.root.appending(path: "Sources/Python").path, package])
            let script =
                "from brokerclient import Broker; print(Broker().acquire_token_silent('notes', "
                + "['\(DevelopmentScene.scope)']).access_token)"
            let python = try await scene.run(
                "devbox", "PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=\(package) /usr/bin/python3 -c \(quoted([script]))"
            )
            #expect(python.succeeded && python.output == here.output, "\(python)")
        }
    }

    @Test("oidc-agent's clients get the app's token there, and nothing more", .needsRoot)
    func agentClients() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed)
            try await scene.near.register("bank")
            let here = try await scene.near.broker.ctl(
                ["token", "--app", "notes", "--scope", DevelopmentScene.scope])
            let place =
                #"stat -c '%a %F %u' "$OIDC_SOCK"; test "${OIDC_SOCK%/*}" = "${BROKER_SOCKET%/*}" && echo beside;"#
            let asked = try await scene.run(
                "devbox", place, "oidc-token", "--scope", DevelopmentScene.scope, "notes")
            #expect(
                asked.output == "600 socket \(FarMachine.user.uid)\nbeside\n" + here.output, "\(asked)")
            let other = try await scene.run("devbox", "oidc-token", "bank")
            #expect(other.status == .exited(1) && other.output.isEmpty, "\(other)")
            let listed = try await scene.run("devbox", "oidc-add", "-a")
            #expect(listed.output.contains("notes") && !listed.output.contains("bank"), "\(listed)")
            let audit = try await scene.near.broker.call("audit.list")[path: "entries"].arrayValue ?? []
            let entry = audit.first { $0["door"].stringValue == "oidc-agent" && $0["app"].stringValue == "notes" }
            #expect(entry?["caller.id"].stringValue == "ssh:devbox", "\(audit)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: scene.far.home()) == [])
        }
    }

    @Test("if the door is disabled, no variable names it there", .needsRoot)
    func noAgent() async throws {
        try await withTestBed { bed in
            let near = try await DevelopmentScene.make(
                in: bed, options: { $0.configuration = "[doors]\noidc_agent_socket = \"off\"\n" })
            let scene = Scene(near: near, far: try await FarMachine.start(in: bed))
            let result = try await scene.run("devbox", "echo \"${OIDC_SOCK-none} $(ls ${BROKER_SOCKET%/*})\"")
            #expect(result.output == "none broker.sock\n", "\(result)")
        }
    }

    @Test("the commands of the recipe and of the door's page work", .needsRoot)
    func recipe() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed)
            let line = try #require(Recipe.lines(of: "Another machine, by ssh", beginningWith: "brokerctl").first)
            let page = try PackageTree.text("docs/doors/ssh.md")
            #expect(page.contains(line.replacing("notes", with: "work")))
            let asking = try #require(page.split(separator: "\n").first { $0.hasPrefix("printf ") })
                .replacing("\"work\"", with: "\"notes\"").replacing("\"api\"", with: "\"\(DevelopmentScene.scope)\"")
            let programs = (try PackageTree.program("brokerctl") as NSString).deletingLastPathComponent
            let path = "\(programs):\(scene.far.environment["PATH"] ?? "")"
            let result = try await bed.run(
                Launch("sh", ["-c", line], environment: ["PATH": path, "BROKER_SOCKET": scene.near.broker.socket]),
                input: "\(asking)\nexit 3\n")
            #expect(result.status == .exited(3) && result.output.contains(#""fromCache":true"#), "\(result)")
        }
    }

    @Test("a sign-in that is requested there opens here, names its origin, and completes there", .needsRoot)
    func interactive() async throws {
        try await withTestBed { bed in
            let page = bed.path("page")
            let configuration = """
                [browser]
                command = ["/bin/sh", "-c", "echo \\"$0\\" > '\(page)'", "%u"]
                """
            let near = try await DevelopmentScene.make(in: bed, options: { $0.configuration = configuration })
            let scene = Scene(near: near, far: try await FarMachine.start(in: bed))
            let events = try await near.broker.connect()
            _ = try await events.call("broker.subscribe", ["topics": ["interaction"]])
            let program = try bed.sharedProgram("brokerctl")
            let login = try scene.start(
                "--right", "interactive", "--right", "token", "devbox",
                quoted([program, "login", "--app", "notes", "--scope", DevelopmentScene.scope]), as: "login")
            let url = try await awaited("the page opens here") {
                try login.requireRunning()
                return (try? String(contentsOfFile: page, encoding: .utf8)).flatMap { $0.hasSuffix("\n") ? $0 : nil }
            }
            let opened = await events.nextNotification()
            #expect(opened?[path: "params.change"] == "opened" && opened?[path: "params.caller"] == "ssh:devbox")
            let log = near.broker.process.errorText
            #expect(log.contains("a sign-in page was opened for a program on another machine"), "\(log)")
            // The person there is notified.
            try await login.waitForText("open elsewhere")
            let back = try await near.provider.signIn(.alice, at: url.trimmingCharacters(in: .newlines), in: bed)
            _ = try await HTTPSession(in: bed).get(back.url)
            #expect(await login.exitStatus() == .exited(0), "\(login.logTail)")
            #expect(login.outputText.contains("<alice>"))
            await events.close()
        }
    }

    // MARK: Terminals

    @Test("without a command a login shell runs on a terminal of the same size", .needsRoot)
    func terminal() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed)
            let terminal = try await scene.terminal("devbox")
            try await terminal.wait(for: "$")
            try await terminal.paste("tty; stty size; test -S $BROKER_SOCKET && shopt -q login_shell && echo is''it\n")
            try await terminal.wait(for: "isit")
            let screen = try await terminal.screen().joined(separator: "\n")
            #expect(screen.contains("/dev/pts/") && screen.contains("20 90"), "\(screen)")
            // A terminal's key goes to the remote program.
            try await terminal.paste("sh -c \"echo wait''ing; exec sleep 600\"\n")
            try await terminal.wait(for: "waiting")
            try await terminal.press("C-c")
            try await terminal.paste("echo still''here; exit 9\n")
            #expect(try await terminal.exitStatus() == 9)
            #expect(try await terminal.history().contains("stillhere"))
            #expect(try await scene.sandboxes() == 0)
        }
    }

    @Test("a password is asked for once on the terminal, and Ctrl-C there ends everything", .needsRoot)
    func password() async throws {
        try await withTestBed { bed in
            let hash = try await bed.require("openssl", ["passwd", "-6", "secret"])
            let user = FarMachine.User(
                name: "far", shell: "/bin/bash", uid: FarMachine.user.uid,
                password: hash.trimmingCharacters(in: .newlines))
            let scene = try await Scene.make(
                in: bed, users: [user], settings: ["PasswordAuthentication yes"],
                configuration: ["PreferredAuthentications password"])
            let terminal = try await scene.terminal("devbox")
            try await terminal.wait(for: "password:")
            try await terminal.paste("secret\n")
            try await terminal.wait(for: "$")
            try await terminal.paste("test -S $BROKER_SOCKET; exit $?\n")
            #expect(try await terminal.exitStatus() == 0)
            #expect(try await terminal.history().count { $0.contains("password:") } == 1)
            let other = try await scene.terminal("devbox")
            try await other.wait(for: "password:")
            try await other.press("C-c")
            #expect(try await other.exitStatus() != 0)
            #expect(try await scene.sandboxes() == 0)
        }
    }

    @Test("a user who may run nothing there gets an error with advice", .needsRoot)
    func noShell() async throws {
        try await withTestBed { bed in
            let user = FarMachine.User(name: "far", shell: "/usr/sbin/nologin", uid: FarMachine.user.uid)
            let scene = try await Scene.make(in: bed, users: [user])
            let result = try await scene.run("devbox", "true")
            #expect(result.status == .exited(1) && result.errors.contains("able to run commands with sh"), "\(result)")
        }
    }

    @Test("an invalid host is refused before anything happens")
    func hosts() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            for host in ["-oProxyCommand=touch x", "", "a b", "$(id)", "a;b", "a`id`", "a\n", "é", "'a'"] {
                let result = try await scene.broker.ctl(["ssh", "--", host])
                #expect(result.status == .exited(2), "\(host): \(result)")
            }
            #expect(try await scene.broker.ctl(["ssh"]).status == .exited(2))
        }
    }
}

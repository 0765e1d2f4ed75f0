import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("Sockets of sandboxes, with real bubblewrap and relays")
struct SandboxSocketTests {
    /// A sandbox without the broker's folder, in which only the socket's folder is mounted.
    private static func bwrap(_ scene: DevelopmentScene, _ folder: String = "{folder}") -> [String] {
        let brokers = String(scene.broker.socket.dropLast("/broker.sock".count))
        return [
            "bwrap", "--dev-bind", "/", "/", "--tmpfs", brokers, "--ro-bind", folder, folder, "--unshare-user",
            "--unshare-pid",
        ]
    }

    private static func runIn(_ scene: DevelopmentScene, _ options: [String] = ["--app", "notes"]) -> [String] {
        ["run-in", "--engine", "bubblewrap", "--id", "box"] + options + ["--"]
    }

    private func open(_ scene: DevelopmentScene, _ more: JSONObject = [:]) async throws -> JSONObject {
        let params: JSONObject = ["engine": "bubblewrap", "id": "box", "apps": ["notes"]]
        return try await scene.broker.call("sandboxes.open", params.merging(more) { $1 })
    }

    @Test("run-in gives a bubblewrap its only socket, with its app's token, nothing else, and no other door")
    func story() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.signedIn(in: bed)
            try await scene.register("bank")
            var lines = [
                try requestLine("token.acquireSilent", DevelopmentScene.notes), try requestLine("broker.status"),
                try requestLine("token.acquireSilent", ["app": "bank", "scopes": ["a"]]),
            ]
            for method in [
                "sandboxes.open", "sandboxes.list", "grants.list", "apps.list", "apps.register", "broker.lock",
            ] {
                lines.append(try requestLine(method))
            }
            let result = try await scene.broker.ctl(
                Self.runIn(scene) + Self.bwrap(scene) + ["/usr/bin/python3", "-c", SandboxClient.script] + lines)
            #expect(result.succeeded, "\(result)")
            let answers = try answers(in: result.output)
            #expect(answers.count == lines.count)
            #expect(answers[0][path: "result.fromCache"] == true)
            #expect(answers[1][path: "result.caller.id"] == "bubblewrap:box")
            #expect(answers[1][path: "result.caller.administers"] == false)
            for answer in answers[2...] { #expect(answer[path: "error.data.kind"] == "accessDenied", "\(answer)") }
            // The broker's own socket does not exist there.
            let other = try await scene.broker.ctl(
                Self.runIn(scene) + Self.bwrap(scene) + ["test", "-e", scene.broker.socket])
            #expect(other.status == .exited(1))
            #expect(try await scene.broker.call("sandboxes.list")[path: "sandboxes"] == [])
            let audit = try await scene.broker.ctl(["audit"])
            #expect(audit.output.contains("sandboxes.open") && audit.output.contains("bubblewrap:box"))
        }
    }

    @Test("oidc-agent's clients in a bubblewrap get its app's token, as that sandbox and by its own door")
    func agentClients() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let token = try await scene.signIn().accessToken
            try await scene.register("bank")
            func inside(_ words: String...) async throws -> CommandResult {
                try await scene.broker.ctl(Self.runIn(scene) + Self.bwrap(scene) + words)
            }
            let asked = try await inside("oidc-token", "--scope", DevelopmentScene.scope, "notes")
            #expect(asked.output == token + "\n", "\(asked)")
            let other = try await inside("oidc-token", "bank")
            #expect(other.status == .exited(1) && other.output.isEmpty, "\(other)")
            // A sandbox has its own apps' names, and no right to lock.
            let ask = """
                import os, socket, sys
                agent = socket.socket(socket.AF_UNIX)
                agent.connect(os.environ["OIDC_SOCK"])
                agent.sendall(sys.argv[1].encode())
                print(agent.recv(4096))
                """
            let loaded = try await inside("/usr/bin/python3", "-c", ask, #"{"request":"loaded_accounts"}"#)
            #expect(loaded.output.contains(#"["notes"]"#), "\(loaded)")
            let locked = try await inside("/usr/bin/python3", "-c", ask, #"{"request":"lock"}"#)
            #expect(locked.output.contains("failure"), "\(locked)")
            #expect(try await scene.broker.call("broker.status")["locked"] == false)
            let audit = try await scene.broker.call("audit.list")[path: "entries"].arrayValue ?? []
            let doors = Set(audit.filter { $0["caller.id"] == "bubblewrap:box" }.map { $0["door"].stringValue })
            #expect(doors == ["oidc-agent"], "\(audit)")
            #expect(try await scene.broker.call("sandboxes.list")[path: "sandboxes"] == [])
        }
    }

    @Test("run-in exits with its command's status or signal, and always closes the socket")
    func exits() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            func result(_ command: String...) async throws -> CommandResult {
                try await scene.broker.ctl(Self.runIn(scene) + command)
            }
            #expect(try await result("sh", "-c", "exit 7").status == .exited(7))
            #expect(try await result("sh", "-c", "kill -9 $$").status == .exited(137))
            #expect(try await result("/nonexistent").status == .exited(1))
            #expect(
                try await result("sh", "-c", "test \"$BROKER_SOCKET\" = \"$1\"", "sh", "{socket}").status == .exited(0))
            #expect(try await scene.broker.ctl(Self.runIn(scene)).status == .exited(2))
            #expect(try await scene.broker.ctl(Self.runIn(scene, ["--app", "none"]) + ["true"]).status == .exited(1))
            // A signal is for the command, which may clean up.
            let running = try scene.broker.startCtl(
                Self.runIn(scene) + ["sh", "-c", "trap 'exit 9' TERM; echo ready; while :; do sleep 0.1; done"])
            try await running.waitForText("ready")
            running.send(SIGTERM)
            #expect(await running.exitStatus() == .exited(9))
            #expect(try await scene.broker.call("sandboxes.list")[path: "sandboxes"] == [])
        }
    }

    @Test("a closed socket is closed for a bubblewrap that holds its connection and its folder")
    func closed() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let opened = try await open(scene)
            let path = opened.text("path")
            let words = Self.bwrap(scene, String(path.dropLast("/broker.sock".count)))
            let program = try bed.start(
                Launch(
                    words[0], words.dropFirst() + ["/usr/bin/python3", "-c", SandboxClient.holder],
                    environment: ["BROKER_SOCKET": path]), as: "holder")
            try await program.waitForText("True")
            _ = try await scene.broker.call("sandboxes.close", ["handle": .string(opened.text("handle"))])
            _ = await program.exitStatus()
            #expect(program.outputText.contains("refused"), "\(program.outputText)\(program.errorText)")
        }
    }

    @Test("behind a relay, like ssh -R, the caller is the sandbox and not the relay")
    func relay() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.signedIn(in: bed)
            let path = try await open(scene, ["engine": "ssh", "id": "devbox"]).text("path")
            let relay = """
                import socket, sys, threading
                listener = socket.socket(socket.AF_UNIX)
                listener.bind(sys.argv[1])
                listener.listen()
                print('listening', flush=True)
                def copy(source, target):
                    while data := source.recv(65536):
                        target.sendall(data)
                    target.shutdown(socket.SHUT_WR)
                while True:
                    near, _ = listener.accept()
                    far = socket.socket(socket.AF_UNIX)
                    far.connect(sys.argv[2])
                    for pair in ((near, far), (far, near)):
                        threading.Thread(target=copy, args=pair, daemon=True).start()
                """
            let forwarded = bed.path("forwarded.sock")
            let program = try bed.start(
                Launch("/usr/bin/python3", ["-c", relay, forwarded, path]), as: "relay")
            try await program.waitForText("listening")
            let result = try await bed.run(
                Launch(
                    "/usr/bin/python3",
                    [
                        "-c", SandboxClient.script, try requestLine("broker.status"),
                        try requestLine("token.acquireSilent", DevelopmentScene.notes), try requestLine("grants.list"),
                    ], environment: ["BROKER_SOCKET": forwarded]))
            let answers = try answers(in: result.output)
            #expect(answers.count == 3, "\(result)")
            #expect(answers[0][path: "result.caller.id"] == "ssh:devbox")
            #expect(answers[1][path: "result.tokenType"] == "Bearer")
            #expect(answers[2][path: "error.data.kind"] == "accessDenied")
        }
    }

    @Test(
        "a configured sandbox has its socket at a fixed place, and a restart is invisible inside its mount"
    )
    func configured() async throws {
        try await withTestBed { bed in
            let box = "[sandbox.box]\nengine = \"systemd\"\nid = \"sync\"\napps = [\"notes\"]\n"
            let socket = try ServiceSocket(path: bed.path("broker.sock"))
            var scene = try await DevelopmentScene.signedIn(
                in: bed, options: { ($0.activated, $0.configuration) = (socket, box) })
            let folder = String(scene.broker.socket.dropLast("broker.sock".count)) + "sandboxes/box"
            // It keeps the folder mounted for the whole test, and sends a request for each line.
            let asker = """
                import socket, sys
                for line in sys.stdin:
                    connection = socket.socket(socket.AF_UNIX)
                    connection.connect('/mnt/broker.sock')
                    connection.sendall(line.encode())
                    print(connection.makefile('r').readline(), end='', flush=True)
                """
            let inside = try bed.start(
                Launch(
                    "bwrap",
                    [
                        "--dev-bind", "/", "/", "--ro-bind", folder, "/mnt", "--unshare-user", "--unshare-pid",
                        "/usr/bin/python3", "-c", asker,
                    ], hasInput: true), as: "inside")
            func ask(_ method: String, _ params: JSONObject, _ count: Int) async throws -> JSONObject {
                try inside.write(try requestLine(method, params) + "\n")
                try await eventually("\(method) is answered") {
                    try inside.requireRunning()
                    return inside.outputText.split(separator: "\n").count >= count
                }
                let lines = inside.outputText.split(separator: "\n")
                return try JSONDecoder().decode(JSONObject.self, from: Data(lines[count - 1].utf8))
            }
            #expect(try await ask("broker.status", [:], 1)[path: "result.caller.id"] == "systemd:sync")
            #expect(try await ask("token.acquireSilent", DevelopmentScene.notes, 2)[path: "result.fromCache"] == true)
            try await scene.restart { ($0.activated, $0.configuration) = (socket, box) }
            try await eventually("the next broker has opened it") {
                try await scene.broker.call("sandboxes.list")[path: "sandboxes"].arrayValue?.count == 1
            }
            #expect(try await ask("token.acquireSilent", DevelopmentScene.notes, 3)[path: "result.fromCache"] == true)
        }
    }

    @Test("a reload opens sockets that are new in the configuration, and closes removed ones")
    func reloaded() async throws {
        try await withTestBed { bed in
            func text(_ names: [String]) -> String {
                names.map { "[sandbox.\($0)]\nengine = \"podman\"\n" }.joined()
            }
            let scene = try await DevelopmentScene.make(in: bed, options: { $0.configuration = text(["one", "two"]) })
            let file = try #require(scene.broker.configurationFile)
            func names() async throws -> [String] {
                let all = try await scene.broker.call("sandboxes.list")[path: "sandboxes"].arrayValue ?? []
                #expect(all.allSatisfy { $0["openedBy"]["id"] == "configuration" })
                return all.compactMap { $0["id"].stringValue }.sorted()
            }
            #expect(try await names() == ["one", "two"])
            try text(["two", "three"]).write(toFile: file, atomically: true, encoding: .utf8)
            scene.broker.process.send(SIGHUP)
            try await eventually("the others are there") { try await names() == ["three", "two"] }
            let folder = String(scene.broker.socket.dropLast("broker.sock".count)) + "sandboxes"
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["three", "two"])
            let check = try await bed.run(
                Launch(try PackageTree.program("brokerd"), ["--check-config", "--config", file]))
            #expect(check.output.contains("sandbox.two = podman:two"), "\(check)")
        }
    }

    @Test("a sandbox below a long folder has the broker's own socket, with or without another door's")
    func longFolder() async throws {
        for (length, hasDoor) in [(60, true), (66, false)] {
            try await withTestBed { bed in
                let fill = length - bed.path("").utf8.count
                try #require(fill > 0, "the bed's own folder is long: \(bed.path(""))")
                let folder = bed.path("") + String(repeating: "f", count: fill)
                let broker = try await BrokerProcess.start(in: bed) { $0.socket = folder + "/broker.sock" }
                let opened = try await broker.call("sandboxes.open", ["engine": "bubblewrap", "id": "box"])
                let path = try #require(opened["path"]?.stringValue)
                let connection = try await WireConnection.connect(to: path)
                #expect(try await connection.call("broker.status")[path: "caller.id"] == "bubblewrap:box")
                await connection.close()
                #expect((opened["doors"]?.arrayValue?.count ?? 0) == (hasDoor ? 1 : 0), "\(opened)")
            }
        }
    }

    @Test("nothing of the sockets is left after the broker stops")
    func leftovers() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let socket = scene.broker.socket
            let folder = String(socket.dropLast("broker.sock".count)) + "sandboxes"
            _ = try await open(scene)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 1)
            scene.broker.process.send(SIGTERM)
            #expect(await scene.broker.process.exitStatus() == .exited(0))
            #expect(!FileManager.default.fileExists(atPath: folder))
        }
    }
}

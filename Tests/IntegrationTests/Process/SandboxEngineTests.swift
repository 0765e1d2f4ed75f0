import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("run-in with real podman and a real sshd", .serialized)
struct SandboxEngineTests {
    /// The requests of every sandbox here: its app's token, its identity, and requests beyond its rights.
    private static func lines() throws -> [String] {
        try [
            requestLine("token.acquireSilent", DevelopmentScene.notes), requestLine("broker.status"),
            requestLine("grants.list"),
        ]
    }

    private func check(_ result: CommandResult, is name: String) throws {
        let lines = result.output.split(separator: "\n").filter { $0.hasPrefix("{") }
        let answers = try answers(in: lines.joined(separator: "\n"))
        try #require(answers.count == 3, "\(result)")
        #expect(answers[0][path: "result.tokenType"] == "Bearer", "\(answers[0])")
        #expect(answers[1][path: "result.caller.id"] == .string(name))
        #expect(answers[1][path: "result.caller.tier"] == "sandboxed")
        #expect(answers[2][path: "error.data.kind"] == "accessDenied")
    }

    /// A command that runs the client in a podman container, which has this folder as `/run/broker`.
    private static func podman(_ bed: TestBed, mounting folder: String, user: Int = 0) throws -> [String] {
        try #require(Launch.find("podman") != nil, "install podman: .ci/deps test")
        let root = try bed.makeDirectory("rootfs")
        #expect(chmod(root, 0o755) == 0)
        for folder in ["usr", "run", "run/broker", "proc", "sys", "dev", "tmp", "etc"] {
            #expect(mkdir("\(root)/\(folder)", 0o755) == 0)
        }
        for link in ["bin", "lib", "lib64", "sbin"] { #expect(symlink("usr/\(link)", "\(root)/\(link)") == 0) }
        // Its runtime supports only control groups v2.
        let surroundings = [
            "unshare", "--mount", "--propagation", "private", "sh", "-c",
            "mount -t cgroup2 none /sys/fs/cgroup && exec \"$@\"", "sh", "env",
            "XDG_RUNTIME_DIR=\(try bed.makeDirectory("podman-run"))",
        ]
        let program = [
            "podman", "--root", try bed.makeDirectory("podman"), "--runroot", try bed.makeDirectory("podman-state"),
            "--storage-driver", "vfs", "--cgroup-manager", "cgroupfs", "--events-backend", "none",
        ]
        return surroundings + program + [
            "run", "--rm", "--network", "none", "--cgroups", "disabled", "--ulimit", "nofile=1024:1024",
            "--ulimit", "nproc=1024:1024", "--user", "\(user)", "-v", "\(folder):/run/broker:ro", "-e",
            "BROKER_SOCKET=/run/broker/broker.sock", "-v", "/usr:/usr:ro", "--rootfs", root, "/usr/bin/python3",
            "-c", SandboxClient.script,
        ] + (try lines())
    }

    @Test("a podman container with the mounted folder is the sandbox that run-in names", .needsRoot)
    func podman() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.signedIn(in: bed)
            let result = try await scene.broker.ctl(
                ["run-in", "--engine", "podman", "--id", "build", "--app", "notes", "--"]
                    + Self.podman(bed, mounting: "{folder}"))
            #expect(result.succeeded, "\(result)")
            try check(result, is: "podman:build")
            #expect(try await scene.broker.call("sandboxes.list")[path: "sandboxes"] == [])
        }
    }

    @Test(
        "a container's other users are the sandbox if so configured, and are refused otherwise", .needsRoot,
        arguments: [true, false])
    func podmanUser(isSaid: Bool) async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.signedIn(in: bed)
            let added = try await scene.broker.ctl(
                ["--json", "sandboxes", "add", "--engine", "podman", "--id", "web", "--app", "notes"]
                    + (isSaid ? ["--any-uid"] : []))
            let path = try JSONDecoder().decode(JSONObject.self, from: Data(added.output.utf8)).text("path")
            let words = try Self.podman(bed, mounting: (path as NSString).deletingLastPathComponent, user: 4321)
            let result = try await bed.run(Launch(words[0], Array(words.dropFirst())))
            if isSaid {
                #expect(result.succeeded, "\(result)")
                try check(result, is: "podman:web")
            } else {
                #expect(!result.succeeded && result.errors.contains("PermissionError"), "\(result)")
            }
        }
    }

    @Test("at the remote end of ssh -R the caller is the sandbox, and not the forwarding ssh", .needsRoot)
    func ssh() async throws {
        try await withTestBed { bed in
            let server = try #require(Launch.find("sshd"), "install openssh-server: .ci/deps test")
            let scene = try await DevelopmentScene.signedIn(in: bed)
            let folder = try bed.makeDirectory("ssh")
            for key in ["host", "own"] {
                try await bed.require("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", "\(folder)/\(key)"])
            }
            let port = try FreePort.next()
            mkdir("/run/sshd", 0o755)
            try """
            Port \(port)
            ListenAddress 127.0.0.1
            HostKey \(folder)/host
            AuthorizedKeysFile \(folder)/own.pub
            PidFile none
            StrictModes no
            UsePAM no
            PermitRootLogin prohibit-password
            AllowStreamLocalForwarding yes
            """.write(toFile: "\(folder)/config", atomically: true, encoding: .utf8)
            let daemon = try bed.start(Launch(server, ["-D", "-e", "-f", "\(folder)/config"]), as: "sshd")
            try await daemon.waitForText("listening")
            let far = "\(folder)/far.sock"
            let words = quoted(
                ["env", "BROKER_SOCKET=\(far)", "/usr/bin/python3", "-c", SandboxClient.script] + (try Self.lines()))
            let result = try await scene.broker.ctl([
                "run-in", "--engine", "ssh", "--id", "devbox", "--app", "notes", "--", "ssh", "-F", "none", "-p",
                "\(port)", "-i", "\(folder)/own", "-o", "IdentitiesOnly=yes", "-o", "StrictHostKeyChecking=no", "-o",
                "UserKnownHostsFile=/dev/null", "-o", "ExitOnForwardFailure=yes", "-R", "\(far):{socket}", "127.0.0.1",
                words,
            ])
            #expect(result.succeeded, "\(result)\n\(daemon.logTail)")
            try check(result, is: "ssh:devbox")
        }
    }

    /// A run-in with a connected program, and the path of its socket.
    private func start(_ scene: DevelopmentScene) async throws -> (program: ManagedProcess, path: String) {
        let running = try scene.broker.startCtl([
            "run-in", "--engine", "test", "--id", "box", "--app", "notes", "--", "/usr/bin/python3", "-c",
            SandboxClient.holder,
        ])
        try await running.waitForText("True")
        return (running, String(try #require(running.outputText.split(separator: " ").dropFirst().first)))
    }

    @Test("a killed run-in leaves nothing of the sandbox: its connections, its socket and its folder")
    func killed() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let (running, path) = try await start(scene)
            let (_, used) = try await start(scene)
            #expect(try await scene.broker.call("sandboxes.list")[path: "sandboxes"].arrayValue?.count == 2)
            running.send(SIGKILL)
            try await eventually("its program is cut off") { running.outputText.contains("refused") }
            try await eventually("its folder is gone") {
                !FileManager.default.fileExists(atPath: (path as NSString).deletingLastPathComponent)
            }
            let rest = try await scene.broker.call("sandboxes.list")[path: "sandboxes"].arrayValue ?? []
            #expect(rest.count == 1 && rest.first?["path"] == .string(used))
        }
    }

    @Test("nothing is left after run-in has ended")
    func leftovers() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let result = try await scene.broker.ctl([
                "run-in", "--engine", "test", "--id", "box", "--app", "notes", "--", "sh", "-c",
                "stat --format='%a %F' {folder} {socket}; echo {folder}",
            ])
            let lines = result.output.split(separator: "\n").map(String.init)
            #expect(lines.prefix(2) == ["700 directory", "600 socket"], "\(result)")
            #expect(!FileManager.default.fileExists(atPath: try #require(lines.last)))
        }
    }
}

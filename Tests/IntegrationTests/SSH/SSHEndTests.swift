import BrokerTestSupport
import Foundation
import Testing

extension SSHTests {
    // MARK: Ends

    @Test("two concurrent logins have a socket each, and a SIGKILL of one does not affect the other", .needsRoot)
    func two() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed)
            let logins = try ["one", "two"].map { try scene.start("devbox", Self.stay, as: $0) }
            for login in logins { try await login.waitForText("at /") }
            let folders = try logins.map(Self.folder)
            #expect(folders[0] != folders[1])
            #expect(try await scene.sandboxes() == 2)
            logins[0].send(SIGKILL)
            try await eventuallyGone(folders[0])
            try await eventually("the sandbox is gone") { try await scene.sandboxes() == 1 }
            #expect(FileManager.default.fileExists(atPath: try Self.socket(of: logins[1])))
            logins[1].closeInput()
            #expect(await logins[1].exitStatus() == .exited(0), "\(logins[1].logTail)")
            #expect(!FileManager.default.fileExists(atPath: folders[1]))
            #expect(try await scene.sandboxes() == 0)
            // The ssh of the killed one ends by itself.
            try await eventually("nothing is left here") { try scene.far.leftovers() == [] }
        }
    }

    @Test(
        "a cut connection, on either side, ends the login without traces, and the next one works",
        .needsRoot,
        arguments: [
            (FarMachine.session, 255), ("ssh -F.* -M ", 255), ("ssh -F.* ControlMaster=no ", 128 + SIGKILL),
        ] as [(String, Int32)])
    func cut(end: String, status: Int32) async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed)
            let login = try scene.start("devbox", Self.stay, as: "login")
            try await login.waitForText("at /")
            let folder = try Self.folder(of: login)
            let pids = try await scene.far.processes(end, of: login)
            try #require(!pids.isEmpty)
            for pid in pids { kill(pid, SIGKILL) }
            #expect(await login.exitStatus() == .exited(status), "\(login.logTail)")
            try await eventuallyGone(folder)
            #expect(try await scene.sandboxes() == 0)
            #expect(try await scene.run("devbox", "test -S \"$BROKER_SOCKET\"").succeeded)
            #expect(try FileManager.default.contentsOfDirectory(atPath: scene.far.home()) == [])
            #expect(try scene.far.leftovers() == [])
        }
    }

    @Test("a silent network ends the login when ssh notices it, and the folder when sshd does", .needsRoot)
    func silent() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(
                in: bed, configuration: ["ServerAliveInterval 1", "ServerAliveCountMax 1"])
            let login = try scene.start("devbox", Self.stay, as: "login")
            try await login.waitForText("at /")
            let folder = try Self.folder(of: login)
            let pids = try await scene.far.processes(FarMachine.session, of: login)
            try #require(!pids.isEmpty)
            for pid in pids { kill(pid, SIGSTOP) }
            #expect(await login.exitStatus() == .exited(255), "\(login.logTail)")
            #expect(try await scene.sandboxes() == 0)
            #expect(FileManager.default.fileExists(atPath: folder), "nobody was told there")
            for pid in pids { kill(pid, SIGCONT) }
            try await eventuallyGone(folder)
        }
    }

    @Test("a signal goes to ssh and is followed by a cleanup, also during a password prompt", .needsRoot)
    func signals() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed)
            let login = try scene.start("devbox", Self.stay, as: "login")
            try await login.waitForText("at /")
            let folder = try Self.folder(of: login)
            login.send(SIGTERM)
            #expect(await login.exitStatus() != .exited(0))
            try await eventuallyGone(folder)
            // An ssh that asks forever.
            let asks = "case \" $* \" in *' -M '*) echo asking >&2; exec sleep 1000;; esac"
            try await scene.far.install("#!/bin/sh\n\(asks)\nexit 1\n", as: "ssh")
            let asking = try scene.start("devbox", as: "asking")
            try await asking.waitForText("asking")
            asking.send(SIGTERM)
            #expect(await asking.exitStatus() == .exited(128 + SIGTERM), "\(asking.logTail)")
            #expect(try await scene.sandboxes() == 0)
        }
    }

    @Test("a socket ends with its lifetime, and with sandboxes remove, while the login continues", .needsRoot)
    func removed() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed)
            let client = quoted(["/usr/bin/python3", "-c", SandboxClient.script, "{}"])
            let program = try bed.sharedProgram("brokerctl")
            let token = quoted([program, "token", "--app", "notes", "--scope", DevelopmentScene.scope])
            let command = "echo at $BROKER_SOCKET.; read x; \(client); \(token); echo $? goes on; cat"
            let login = try scene.start("--for", "1h", "devbox", command, as: "login")
            try await login.waitForText("at /")
            let open = try await scene.near.broker.call("sandboxes.list")[path: "sandboxes"].arrayValue ?? []
            #expect(open.first?["expiresOn"].integerValue != nil)
            let handle = try #require(open.first?["handle"].stringValue)
            #expect(try await scene.near.broker.ctl(["sandboxes", "remove", handle]).succeeded)
            try login.write("\n")
            try await login.waitForText("goes on")
            #expect(!login.outputText.contains("jsonrpc"), "\(login.logTail)")
            #expect(login.outputText.contains("3 goes on"), "no broker: \(login.logTail)")
            login.closeInput()
            #expect(await login.exitStatus() == .exited(0))
        }
    }

    // MARK: The person's configuration, and the remote side's

    @Test(
        "a machine that forwards no sockets is reported in one sentence, and nothing is run there", .needsRoot,
        arguments: ["AllowStreamLocalForwarding no", "AllowStreamLocalForwarding local", "DisableForwarding yes"])
    func forbidden(setting: String) async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed, settings: [setting])
            let result = try await scene.run("devbox", "echo ran")
            #expect(result.status == .exited(1) && result.output.isEmpty, "\(result)")
            #expect(result.errors.contains("AllowStreamLocalForwarding yes"), "\(result)")
            #expect(try await scene.sandboxes() == 0)
        }
    }

    @Test("forwards, commands and connections in the person's configuration do not interfere", .needsRoot)
    func configured() async throws {
        try await withTestBed { bed in
            let port = try FreePort.next()
            let scene = try await Scene.make(
                in: bed,
                configuration: [
                    "ClearAllForwardings yes", "ExitOnForwardFailure yes", "LocalForward \(port) 127.0.0.1:9",
                    "RemoteCommand echo wrong", "ControlMaster auto", "ControlPath \(bed.path("control-%C"))",
                    "ControlPersist yes", "StreamLocalBindUnlink no",
                ])
            for _ in 0..<2 {
                let result = try await scene.run("devbox", "test -S \"$BROKER_SOCKET\" && echo there")
                #expect(result.succeeded && result.output == "there\n", "\(result)")
            }
            // No connection remains that the person did not make.
            #expect(try await scene.far.ssh("-O", "check", "devbox").status == .exited(255))
        }
    }

    @Test("the person's shared connection is used, stays, and forwards nothing any more afterwards", .needsRoot)
    func shared() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(
                in: bed, configuration: ["ControlMaster auto", "ControlPath \(bed.path("control-%C"))"])
            let master = try bed.start(Launch("\(scene.far.programs)/ssh", ["-N", "devbox"]), as: "master")
            try await eventually("it is there") {
                try master.requireRunning()
                return try await scene.far.ssh("-O", "check", "devbox").succeeded
            }
            let logins = try ["one", "two"].map { try scene.start("devbox", Self.stay, as: $0) }
            for login in logins { try await login.waitForText("at /") }
            let folders = try logins.map(Self.folder)
            for login in logins {
                login.closeInput()
                #expect(await login.exitStatus() == .exited(0), "\(login.logTail)")
            }
            for folder in folders { #expect(!FileManager.default.fileExists(atPath: folder)) }
            #expect(scene.far.logins == 1)
            #expect(try await scene.far.ssh("-O", "check", "devbox").succeeded)
            let sockets = try await bed.require("ss", ["-xlH"])
            #expect(!folders.contains { sockets.contains($0) }, "the far side listens no more")
        }
    }

    @Test("with an sshd that allows one session per connection, the command uses another one", .needsRoot)
    func oneSession() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed, settings: ["MaxSessions 1"])
            let result = try await scene.run("devbox", "test -S \"$BROKER_SOCKET\" && echo there")
            #expect(result.succeeded && result.output == "there\n", "\(result)")
        }
    }
}

extension FarMachine {
    /// sshd's name for the processes of a login: a separate program since OpenSSH 9.8.
    static let session = "sshd(-session)?: far"

    /// Processes whose command line matches, below sshd or below that login.
    func processes(_ pattern: String, of login: ManagedProcess) async throws -> [pid_t] {
        try await processes(below: [daemon.pid, login.pid], matching: pattern)
    }

    /// These processes and their descendants.
    func processes(below roots: [pid_t], matching pattern: String = "") async throws -> [pid_t] {
        let all = try await bed.require("ps", ["-eo", "pid=,ppid=,args=", "ww"]).split(separator: "\n").compactMap {
            line -> (pid: pid_t, parent: pid_t, words: String)? in
            let parts = line.split(separator: " ", maxSplits: 2)
            guard parts.count == 3, let pid = pid_t(parts[0]), let parent = pid_t(parts[1]) else { return nil }
            return (pid, parent, String(parts[2]))
        }
        var ours = Set(roots)
        var count = 0
        while count < ours.count {
            count = ours.count
            ours.formUnion(all.filter { ours.contains($0.parent) }.map(\.pid))
        }
        let matches = try Regex(pattern)
        return all.filter { ours.contains($0.pid) && $0.words.contains(matches) }.map(\.pid)
    }
}

import BrokerTestSupport
import DevIdentityProvider
import Foundation
import Testing

@Suite("brokerctl token-file")
struct TokenFileTests {
    private struct Scene {
        let scene: DevelopmentScene
        let path: String

        static func make(in bed: TestBed) async throws -> Scene {
            Scene(scene: try await DevelopmentScene.make(in: bed), path: try bed.makeDirectory("tokens") + "/token")
        }

        var content: String? { try? String(contentsOfFile: path, encoding: .utf8) }

        func start(_ more: [String] = []) throws -> ManagedProcess {
            try scene.broker.startCtl(["token-file", "--app", "notes", "--scope", DevelopmentScene.scope, path] + more)
        }

        func run(_ path: String) async throws -> CommandResult {
            try await scene.broker.ctl(["token-file", "--app", "notes", "--scope", DevelopmentScene.scope, path])
        }
    }

    @Test("the file contains the token for its owner only, without a newline, until the program ends")
    func givenAndRemoved() async throws {
        try await withTestBed { bed in
            let file = try await Scene.make(in: bed)
            let token = try await file.scene.signIn().accessToken
            for signal in [SIGTERM, SIGINT] {
                let keeper = try file.start()
                try await keeper.waitForText("Keeping a token of notes in \(file.path)")
                #expect(file.content == token)
                let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
                #expect(mode == 0o600)
                keeper.send(signal)
                #expect(await keeper.exitStatus() == .exited(0), "\(keeper.logTail)")
                #expect(
                    try FileManager.default.contentsOfDirectory(
                        atPath: (file.path as NSString).deletingLastPathComponent
                    ).isEmpty)
                #expect(!keeper.logTail.contains(token))
            }
        }
    }

    @Test("under nohup, a token file outlives the terminal's hang-up, and is removed when the program ends")
    func hungUp() async throws {
        try await withTestBed { bed in
            let file = try await Scene.make(in: bed)
            try await file.scene.signIn()
            let broker = file.scene.broker
            let words = ["--socket", broker.socket, "token-file", "--app", "notes", "--scope", DevelopmentScene.scope]
            let keeper = try bed.start(
                Launch("/usr/bin/nohup", [try PackageTree.program("brokerctl")] + words + [file.path]))
            try await keeper.waitForText("Keeping a token")
            keeper.send(SIGHUP)
            #expect(try await broker.ctl(["lock"]).succeeded)
            try await keeper.waitForText("The broker is locked. There is no token")
            #expect(try await broker.ctl(["unlock"]).succeeded)
            try await eventually("the file is back") { file.content != nil }
            keeper.send(SIGTERM)
            #expect(await keeper.exitStatus() == .exited(0), "\(keeper.logTail)")
            #expect(file.content == nil)
        }
    }

    @Test("the file may contain the ID token instead")
    func idToken() async throws {
        try await withTestBed { bed in
            let file = try await Scene.make(in: bed)
            let token = try await file.scene.signIn().token.text("idToken")
            let keeper = try file.start(["--token", "id"])
            try await keeper.waitForText("Keeping a token")
            #expect(file.content == token)
        }
    }

    @Test("the file has the next token before the current one expires")
    func renewed() async throws {
        try await withTestBed { bed in
            let file = try await Scene.make(in: bed)
            file.scene.provider.setPolicy { $0.accessTokenLifetime = 8 }
            try await file.scene.signIn()
            let keeper = try file.start()
            try await keeper.waitForText("Keeping a token")
            let first = try #require(file.content)
            try await eventually("the file has another token") {
                try keeper.requireRunning()
                let now = file.content
                // There is never a moment without a token.
                #expect(now != nil)
                return now != first
            }
            #expect(file.scene.provider.refreshes > 0)
        }
    }

    @Test("the file is removed while the broker is locked or after a sign-out, and both are reported")
    func withheld() async throws {
        try await withTestBed { bed in
            let file = try await Scene.make(in: bed)
            try await file.scene.signIn()
            let keeper = try file.start()
            try await keeper.waitForText("Keeping a token")
            #expect(try await file.scene.broker.ctl(["lock"]).succeeded)
            try await eventually("the file is gone") { file.content == nil }
            try await keeper.waitForText("The broker is locked. There is no token")
            #expect(try await file.scene.broker.ctl(["unlock"]).succeeded)
            try await eventually("the file is back") { file.content != nil }

            #expect(try await file.scene.broker.ctl(["accounts", "sign-out", "alice"]).succeeded)
            try await eventually("the file is gone") { file.content == nil }
            try await keeper.waitForText("login --app notes")
            try await file.scene.signIn()
            try await eventually("the file is back") { file.content != nil }
        }
    }

    @Test("the file is removed with its app's registration, and returns with a new one")
    func unregistered() async throws {
        try await withTestBed { bed in
            let file = try await Scene.make(in: bed)
            try await file.scene.signIn()
            let keeper = try file.start()
            try await keeper.waitForText("Keeping a token")
            #expect(try await file.scene.broker.ctl(["apps", "remove", "notes"]).succeeded)
            try await eventually("the file is gone") { file.content == nil }
            try await keeper.waitForText("No app is registered under this name")
            try await file.scene.register("notes")
            try await eventually("the file is back") { file.content != nil }
        }
    }

    @Test("no token outlives its broker, and a new broker restores it")
    func restarted() async throws {
        try await withTestBed { bed in
            let socket = try ServiceSocket(path: bed.path("broker.sock"))
            var scene = try await DevelopmentScene.signedIn(in: bed, options: { $0.activated = socket })
            let path = try bed.makeDirectory("tokens") + "/token"
            let keeper = try Scene(scene: scene, path: path).start()
            try await keeper.waitForText("Keeping a token")
            await scene.broker.stop()
            try await eventually("the file is gone") { !FileManager.default.fileExists(atPath: path) }
            try await scene.startAgain { $0.activated = socket }
            try await eventually("the file is back") { FileManager.default.fileExists(atPath: path) }
            keeper.send(SIGTERM)
            #expect(await keeper.exitStatus() == .exited(0), "\(keeper.logTail)")
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test("without a sign-in it ends at once, with the command for it")
    func nobody() async throws {
        try await withTestBed { bed in
            let file = try await Scene.make(in: bed)
            let result = try await file.run(file.path)
            #expect(result.status == .exited(4) && result.errors.contains("login --app notes"), "\(result)")
            #expect(file.content == nil)
        }
    }

    @Test("folders where others could read or replace it are refused, and existing files are not touched")
    func places() async throws {
        try await withTestBed { bed in
            let file = try await Scene.make(in: bed)
            try await file.scene.signIn()
            let own = try bed.makeDirectory("own")
            let open = try bed.makeDirectory("open")
            chmod(open, 0o755)
            let files = FileManager.default
            try files.createSymbolicLink(atPath: bed.path("link"), withDestinationPath: own)
            try files.createSymbolicLink(atPath: "\(own)/link", withDestinationPath: bed.path("elsewhere"))
            try files.createSymbolicLink(atPath: "\(own)/dangling", withDestinationPath: "\(own)/nothing")
            try "alias ll='ls -l'\n".write(toFile: "\(own)/settings", atomically: true, encoding: .utf8)
            chmod("\(own)/settings", 0o600)
            try "AT".write(toFile: "\(own)/readable", atomically: true, encoding: .utf8)
            chmod("\(own)/readable", 0o644)
            let before = try files.contentsOfDirectory(atPath: own).sorted()
            let top = geteuid() == 0 ? "Other users can access the folder /" : "The folder / belongs to another user"
            for (place, reason) in [
                ("\(open)/token", "chmod 700"), ("/token-of-a-test", top),
                (bed.path("link/token"), "is a link"), (bed.path("none/token"), "mkdir -m 700"),
                ("\(own)/", "names a folder"),
                ("\(own)/link", "is a link"), ("\(own)/dangling", "is a link"), ("\(own)/settings", "is not a token"),
                ("\(own)/readable", "is not a token"),
            ] {
                let result = try await file.run(place)
                #expect(result.status == .exited(1) && result.errors.contains(reason), "\(place): \(result)")
            }
            #expect(try files.contentsOfDirectory(atPath: own).sorted() == before)
            #expect(try String(contentsOfFile: "\(own)/settings", encoding: .utf8).hasPrefix("alias"))
        }
    }

    @Test("another user's file that looks like a token is neither replaced nor removed at any time")
    func foreign() async throws {
        try await withTestBed { bed in
            let file = try await Scene.make(in: bed)
            try await file.scene.signIn()
            try "not-ours".write(toFile: file.path, atomically: true, encoding: .utf8)
            chmod(file.path, 0o600)
            let refused = try await file.run(file.path)
            #expect(refused.status == .exited(1) && refused.errors.contains("is not a token file"), "\(refused)")
            #expect(file.content == "not-ours")

            unlink(file.path)
            let keeper = try file.start()
            try await keeper.waitForText("Keeping a token")
            try "in place".write(toFile: file.path, atomically: false, encoding: .utf8)
            keeper.send(SIGTERM)
            #expect(await keeper.exitStatus() == .exited(0))
            #expect(file.content == "in place")
        }
    }

    @Test(
        "a run that ends while it writes leaves nothing, if the file system supports unnamed files")
    func endedWhileWriting() async throws {
        try await withTestBed { bed in
            let file = try await Scene.make(in: bed)
            try await file.scene.signIn()
            let brokerctl = try PackageTree.program("brokerctl")
            let arguments = ["--socket", file.scene.broker.socket, "token-file", "--app", "notes"]
            // The kernel refuses the eleventh byte, or ends the process with it (SIGXFSZ), depending on its disposition in the tests' parent.
            let result = try await bed.run(
                Launch(
                    "/usr/bin/prlimit",
                    ["--fsize=10", "--core=0", brokerctl] + arguments + ["--scope", DevelopmentScene.scope, file.path]))
            #expect([.exited(1), .killed(signal: SIGXFSZ)].contains(result.status), "\(result)")
            let folder = (file.path as NSString).deletingLastPathComponent
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        }
    }

    @Test("the next run removes the rest of a run killed while it renewed the token, and no other file")
    func killedWhileReplacing() async throws {
        try await withTestBed { bed in
            let file = try await Scene.make(in: bed)
            try await file.scene.signIn()
            let first = try file.start()
            try await first.waitForText("Keeping a token")
            first.send(SIGKILL)
            _ = await first.exitStatus()
            let folder = (file.path as NSString).deletingLastPathComponent
            let passing = "\(folder)/.token.new"
            #expect(try await bed.run(Launch("/bin/cp", ["-p", file.path, passing])).succeeded)
            let second = try file.start()
            try await second.waitForText("Keeping a token")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["token"])
            second.send(SIGKILL)
            _ = await second.exitStatus()

            try "not-ours".write(toFile: passing, atomically: true, encoding: .utf8)
            let refused = try await file.run(file.path)
            #expect(refused.status == .exited(1) && refused.errors.contains(".token.new"), "\(refused)")
            #expect(try String(contentsOfFile: passing, encoding: .utf8) == "not-ours")
        }
    }

    @Test("a file that another run left after a crash is replaced")
    func leftOver() async throws {
        try await withTestBed { bed in
            let file = try await Scene.make(in: bed)
            let token = try await file.scene.signIn().accessToken
            let first = try file.start()
            try await first.waitForText("Keeping a token")
            first.send(SIGKILL)
            _ = await first.exitStatus()
            #expect(file.content == token)
            let second = try file.start()
            try await second.waitForText("Keeping a token")
            second.send(SIGTERM)
            #expect(await second.exitStatus() == .exited(0))
            #expect(file.content == nil)
        }
    }
}

import BrokerCommands
import BrokerTestSupport
import Foundation
import Testing

@Suite("What brokerctl ssh says to ssh, and what the far side says to it")
struct SSHLineTests {
    private static let own = SSHProgram.Sharing.own(controlPath: "/run/user/7/c%d")

    @Test("the host stands behind the dashes, and every call is about the same connection")
    func lines() {
        let program = SSHProgram(host: "devbox")
        let lines = [
            program.first(Self.own, "x"), program.main(Self.own, "x", hasTerminal: true),
            program.forward(Self.own, from: "/f", to: "/n"), program.cancel(Self.own, from: "/f", to: "/n"),
        ]
        for line in lines {
            #expect(line.first == "ssh" && line.contains("/run/user/7/c%%d"))
            #expect(line.firstIndex(of: "--").map { line[$0 + 1] } == "devbox")
        }
        #expect(program.main(Self.own, "x", hasTerminal: true).contains("-t"))
        #expect(!program.main(Self.own, "x", hasTerminal: false).contains("-t"))
    }

    @Test("a connection is made where none is shared, and does not outlive the login")
    func sharing() {
        let program = SSHProgram(host: "devbox")
        let own = program.first(Self.own, "x")
        #expect(own.contains("-M") && own.contains("ControlPersist=no"))
        let joined = program.first(.joined(controlPath: "/c"), "x")
        #expect(!joined.contains("-M") && joined.contains("ControlMaster=no"))
    }

    @Test("a path with colons, backslashes and percent signs is one path")
    func paths() {
        let line = SSHProgram(host: "devbox").forward(Self.own, from: "/far", to: #"/a:b\c %n/s"#)
        #expect(line.contains(#"/far:/a\:b\\c %%n/s"#), "\(line)")
    }

    @Test("where the person's connections are is read from ssh's own words")
    func configuration() {
        #expect(SSHProgram.controlPath(in: "host x\ncontrolmaster auto\ncontrolpath /a b/c\nport 22\n") == "/a b/c")
        #expect(SSHProgram.controlPath(in: "controlpath none\n") == nil)
        #expect(SSHProgram.controlPath(in: "xcontrolpath /a\n") == nil)
    }

    @Test("a folder is taken from the far side's words, whatever its login shell writes before")
    func folder() {
        func folder(_ text: String) -> String? { RemoteFolder("n0", in: Array(text.utf8))?.path }
        #expect(folder("brokerctl-folder n0 /tmp/brokerctl-n0\n") == "/tmp/brokerctl-n0")
        #expect(folder("Hello\r\n> brokerctl-folder n0 /run/user/7/brokerctl-n0\nmore") == "/run/user/7/brokerctl-n0")
        #expect(folder("brokerctl-folder n0 /tmp/brokerctl-n0") == nil, "the line is not whole")
        #expect(folder("brokerctl-folder n1 /tmp/brokerctl-n1\n") == nil)
    }

    @Test(
        "a folder that is not ours, or means more than a path, is none",
        arguments: [
            "/etc", "brokerctl-n0", "/tmp/a:b/brokerctl-n0", "/tmp/$(id)/brokerctl-n0", "/tmp/%h/brokerctl-n0",
            "/tmp/a b/brokerctl-n0", "/tmp/brokerctl-n0/../../etc", "/\u{1b}[2J/brokerctl-n0", "",
            "/" + String(repeating: "a", count: 100) + "/brokerctl-n0",
        ])
    func foreign(path: String) {
        #expect(RemoteFolder("n0", in: Array("brokerctl-folder n0 \(path)\n".utf8)) == nil)
    }

    @Test("whatever the far side says, a folder is a short path of plain characters and our name")
    func anything() {
        let mark = Array("brokerctl-folder n0 /tmp/brokerctl-n0\n".utf8)
        var random = SystemRandomNumberGenerator()
        for _ in 0..<5000 {
            var bytes = mark
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                let place = Int.random(in: 0...bytes.count, using: &random)
                let some = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                    Bool.random() ? mark.randomElement() ?? 0 : UInt8.random(in: 0...255, using: &random)
                }
                bytes.replaceSubrange(place..<min(bytes.count, place + Int.random(in: 0...2)), with: some)
            }
            guard let path = RemoteFolder("n0", in: bytes)?.path else { continue }
            let isPlain = path.utf8.allSatisfy { (0x21...0x7e).contains($0) && !"%:$'\\\"".utf8.contains($0) }
            #expect(
                isPlain && path.hasPrefix("/") && path.hasSuffix("/brokerctl-n0") && path.utf8.count <= 90, "\(path)")
        }
    }

    @Test("the folder is made in the runtime directory, else in /tmp, is private, and goes with the end of the input")
    func keeper() async throws {
        try await withTestBed { bed in
            let runtime = try bed.makeDirectory("runtime")
            for (place, root) in [(runtime, runtime), ("/nonexistent", "/tmp"), ("", "/tmp")] {
                let name = UUID().uuidString
                let launch = Launch(
                    "sh", ["-c", RemoteFolder.keeper(name)], environment: ["XDG_RUNTIME_DIR": place], hasInput: true)
                let keeper = try bed.start(launch, as: "keeper")
                try await keeper.waitForText("\n")
                let folder = try #require(RemoteFolder(name, in: Array(keeper.outputText.utf8)))
                #expect(folder.path.hasPrefix(root + "/"))
                #expect(try await bed.require("stat", ["-c", "%a", folder.path]) == "700\n")
                try "x".write(toFile: folder.socket(for: "/here/broker.sock"), atomically: true, encoding: .utf8)
                // As at the end of a terminal or a session.
                keeper.send(SIGHUP)
                keeper.closeInput()
                // The signal may have been for a shell around it.
                try await eventually("the folder is gone") { !FileManager.default.fileExists(atPath: folder.path) }
            }
        }
    }

    @Test("a folder that is there already is not taken")
    func taken() async throws {
        try await withTestBed { bed in
            let runtime = try bed.makeDirectory("runtime")
            let name = UUID().uuidString
            #expect(mkdir("\(runtime)/brokerctl-\(name)", 0o755) == 0)
            let result = try await bed.run(
                Launch("sh", ["-c", RemoteFolder.keeper(name)], environment: ["XDG_RUNTIME_DIR": runtime]))
            #expect(RemoteFolder(name, in: Array(result.outputData))?.path.hasPrefix("/tmp/") == true, "\(result)")
        }
    }

    @Test("no shell has a line's end or a comment to read, and nothing in several words is no command")
    func commands() {
        for words in [["a\nb"], ["echo", "'x"], []] {
            #expect(!RemoteProgram(words).line([("A", "/s"), ("B", "/t")]).contains("\n"))
        }
        #expect(!RemoteFolder.keeper("n0").contains("\n"))
        #expect(RemoteProgram([]).isLogin && RemoteProgram([""]).isLogin && !RemoteProgram(["", ""]).isLogin)
    }
}

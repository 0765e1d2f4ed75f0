import BrokerHost
import BrokerTestSupport
import Foundation
import Testing

@Suite("Running a program")
struct ChildProgramTests {
    @Test("variables that were unset for the broker's own libraries are there for programs that it starts")
    func environment() async throws {
        try await withTestBed { bed in
            let variables = ["KEPT": "1", "SSLKEYLOGFILE": "/nowhere", "OPENSSL_CONF": "/nothing"]
            let probe = try bed.probe("environment", environment: variables)
            #expect(await probe.exitStatus() == .exited(0))
            #expect(
                probe.outputText.contains("here: KEPT\n") && probe.outputText.contains("secret of libraries: false"))
            for (name, value) in variables { #expect(probe.outputText.contains("\n\(name)=\(value)\n")) }
        }
    }

    @Test("what it prints is told, and whether it ended well")
    func output() async throws {
        #expect(
            await shell("printf 'one\\ntwo'", longestOutput: 7).run()
                == .ended(isWell: true, output: Array("one\ntwo".utf8)))
        #expect(
            await shell("echo no; exit 3", longestOutput: 7).run() == .ended(isWell: false, output: Array("no\n".utf8)))
        #expect(await shell("kill -9 $$").run() == .ended(isWell: false, output: []))
    }

    @Test("one that prints too much is ended, and none of it is taken")
    func tooMuch() async throws {
        #expect(await shell("exec yes", longestOutput: 1_024).run() == .ended(isWell: false, output: []))
    }

    @Test("one that is not there cannot be started, and why is said")
    func missing() async {
        for name in ["/no/such/program", "no-such-program"] {
            #expect(await ChildProgram(words: [name]).run() == .notStarted(code: ENOENT))
        }
    }

    @Test("one whose words would be cut at a zero byte is not started")
    func zeroBytes() async {
        for words in [["/usr/bin/true\0/other"], ["true", "a\0b"], []] {
            #expect(await ChildProgram(words: words).run() == .notStarted(code: EINVAL))
        }
    }

    @Test(
        "it has no descriptor but the usual three, no signal blocked or ignored, and a session of its own if it shall")
    func beginning() async throws {
        let words =
            "ls /proc/self/fd | tr '\\n' ' '; sed -n 's/Sig[BI][lg][kn].//p' /proc/self/status; ps -o sid= -p $$; echo $$"
        for hasOwnSession in [true, false] {
            var program = shell(words, longestOutput: 1_024)
            program.hasOwnSession = hasOwnSession
            guard case .ended(true, let output) = await program.run() else {
                Issue.record("it did not end well")
                continue
            }
            let said = String(decoding: output, as: UTF8.self).split(whereSeparator: \.isWhitespace).map(String.init)
            try #require(said.count == 8, "\(said)")
            // The last is the folder's own.
            #expect(said[..<4] == ["0", "1", "2", "3"], "\(said)")
            // 32 and 33 are the C library's own.
            for mask in said[4..<6] { #expect(UInt64(mask, radix: 16).map { $0 & ~(3 << 31) } == 0, "\(said)") }
            #expect((said[6] == said[7]) == hasOwnSession, "\(said)")
        }
    }

    @Test("when nobody waits any more it is killed, and its session")
    func cancelled() async throws {
        try await withTestBed { bed in
            let file = bed.path("pids")
            var program = shell("sleep 300 & echo $! $$ > \(file); wait", longestOutput: 1_024)
            program.hasOwnSession = true
            let running = program
            let run = Task { await running.run() }
            try await eventually("it runs") {
                (try? String(contentsOfFile: file, encoding: .utf8))?.hasSuffix("\n") ?? false
            }
            run.cancel()
            #expect(await run.value == .cancelled)
            let pids = try String(contentsOfFile: file, encoding: .utf8).split(whereSeparator: \.isWhitespace)
            for pid in try pids.map({ try #require(pid_t($0)) }) {
                try await eventually("\(pid) has ended") { Self.hasEnded(pid) }
            }
        }
    }

    @Test("one whose task was cancelled before is not started")
    func cancelledBefore() async throws {
        try await withTestBed { bed in
            let file = bed.path("file")
            let gate = Gate()
            let run = Task {
                await gate.wait()
                return await ChildProgram(words: ["/usr/bin/touch", file]).run()
            }
            run.cancel()
            gate.open()
            #expect(await run.value == .cancelled)
            #expect(!FileManager.default.fileExists(atPath: file))
        }
    }

    @Test("a socket that lingers, and is closed at any moment, keeps none from beginning")
    func lingering() async throws {
        try await withTestBed { bed in
            let probe = try bed.probe("children")
            try await probe.waitForText("all ran")
        }
    }

    private func shell(_ words: String, longestOutput: Int = 0) -> ChildProgram {
        ChildProgram(words: ["sh", "-c", words], longestOutput: longestOutput)
    }

    /// A zombie has; who its parent is now may take its time.
    private static func hasEnded(_ pid: pid_t) -> Bool {
        guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return true }
        return stat.contains(") Z ")
    }
}

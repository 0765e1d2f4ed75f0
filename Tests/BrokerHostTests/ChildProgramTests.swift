import BrokerHost
import BrokerTestSupport
import Foundation
import Testing

@Suite("Child programs")
struct ChildProgramTests {
    @Test("programs get the variables that were unset for the broker's own libraries")
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

    @Test("a program's output and success are returned")
    func output() async throws {
        #expect(
            await shell("printf 'one\\ntwo'", longestOutput: 7).run()
                == .ended(isWell: true, output: Array("one\ntwo".utf8)))
        #expect(
            await shell("echo no; exit 3", longestOutput: 7).run() == .ended(isWell: false, output: Array("no\n".utf8)))
        #expect(await shell("kill -9 $$").run() == .ended(isWell: false, output: []))
    }

    @Test("a program that prints too much is ended, and its output is dropped")
    func tooMuch() async throws {
        #expect(await shell("exec yes", longestOutput: 1_024).run() == .ended(isWell: false, output: []))
    }

    @Test("a missing program cannot be started, and the error says why")
    func missing() async {
        #expect(await ChildProgram(words: ["/no/such/program"]).run() == .notStarted(code: ENOENT))
        // EACCES if the caller may not search a folder of PATH.
        let searched = await ChildProgram(words: ["no-such-program"]).run()
        #expect(searched == .notStarted(code: ENOENT) || searched == .notStarted(code: EACCES))
    }

    @Test("a program with a zero byte in its words is not started")
    func zeroBytes() async {
        for words in [["/usr/bin/true\0/other"], ["true", "a\0b"], []] {
            #expect(await ChildProgram(words: words).run() == .notStarted(code: EINVAL))
        }
    }

    @Test(
        "a program has only three descriptors, no blocked signals, and a session of its own on request")
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

    @Test("a canceled run kills the program and its session")
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

    @Test("a program whose task was canceled before is not started")
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

    @Test("a lingering socket that is closed at any moment does not delay a program's start")
    func lingering() async throws {
        try await withTestBed { bed in
            let probe = try bed.probe("children")
            try await probe.waitForText("all ran")
        }
    }

    private func shell(_ words: String, longestOutput: Int = 0) -> ChildProgram {
        ChildProgram(words: ["sh", "-c", words], longestOutput: longestOutput)
    }

    /// True for a zombie, too; its new parent may take its time.
    private static func hasEnded(_ pid: pid_t) -> Bool {
        guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return true }
        return stat.contains(") Z ")
    }
}

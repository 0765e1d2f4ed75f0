import BrokerHost
import BrokerTestSupport
import Foundation
import Testing

@Suite("Running a program")
struct ChildProgramTests {
    @Test("what it prints is told, and whether it ended well")
    func output() async throws {
        let well = try #require(await shell("printf 'one\\ntwo'", longestOutput: 7).run())
        #expect(well.isWell && well.output == Array("one\ntwo".utf8))
        let badly = try #require(await shell("echo no; exit 3", longestOutput: 7).run())
        #expect(!badly.isWell && badly.output == Array("no\n".utf8))
        let killed = try #require(await shell("kill -9 $$").run())
        #expect(!killed.isWell)
    }

    @Test("one that prints too much is ended, and none of it is taken")
    func tooMuch() async throws {
        let ending = try #require(await shell("yes; echo never", longestOutput: 1_024).run())
        #expect(!ending.isWell && ending.output.isEmpty)
    }

    @Test("one that is not there is no program")
    func missing() async {
        #expect(await ChildProgram(words: ["/no/such/program"]).run() == nil)
        #expect(await ChildProgram(words: ["no-such-program"]).run() == nil)
    }

    @Test("it has no descriptor but the usual three, no signal blocked or ignored, and a group of its own")
    func beginning() async throws {
        let words =
            "ls /proc/self/fd | tr '\\n' ' '; grep -E 'Sig(Blk|Ign)' /proc/self/status; ps -o pgid= -p $$; echo $$"
        let ending = try #require(await shell(words, longestOutput: 1_024).run())
        let lines = String(decoding: ending.output, as: UTF8.self).split(separator: "\n").map(String.init)
        // The last is the folder's own.
        #expect(lines.first == "0 1 2 3 SigBlk:\t0000000000000000", "\(lines)")
        // Two are the C library's own.
        #expect(lines[1] == "SigIgn:\t0000000180000000", "\(lines)")
        #expect(lines[2].trimmingCharacters(in: .whitespaces) == lines[3], "\(lines)")
    }

    @Test("when nobody waits any more it is killed, with its children")
    func cancelled() async throws {
        try await withTestBed { bed in
            let file = bed.path("pids")
            let program = shell("sleep 300 & echo $! $$ > \(file); wait", longestOutput: 1_024)
            let run = Task { await program.run() }
            try await eventually("it runs") {
                (try? String(contentsOfFile: file, encoding: .utf8))?.hasSuffix("\n") ?? false
            }
            run.cancel()
            #expect(await run.value == nil)
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
            let run = Task {
                while !Task.isCancelled { await Task.yield() }
                return await ChildProgram(words: ["/usr/bin/touch", file]).run()
            }
            run.cancel()
            #expect(await run.value == nil)
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

import BrokerTestSupport
import Foundation
import Testing

@Suite("The traces of a test run") struct ProcessReaperTests {
    @Test("when a test run dies, its processes and directories are removed, but not those it had ended itself")
    func reaper() async throws {
        try await withTestBed { bed in
            let left = try bed.start(Launch("sleep", ["600"]))
            let kept = try bed.start(Launch("sleep", ["600"]))
            let directory = try bed.makeDirectory("left")
            let reaper = try bed.start(Launch(PackageTree.fixture("process-reaper"), [], hasInput: true))
            try reaper.write(
                "process \(left.pid)\nprocess \(kept.pid)\ndirectory \(directory)\nended \(kept.pid)\n")
            reaper.closeInput()
            #expect(await reaper.exitStatus() == .exited(0))
            #expect(await left.exitStatus() == .killed(signal: SIGTERM))
            #expect(kept.isRunning)
            #expect(!FileManager.default.fileExists(atPath: directory))
        }
    }

    @Test("an ended program keeps its number until it is stopped, so later signals to its group hit no other")
    func number() async throws {
        try await withTestBed { bed in
            let parent = try bed.start(Launch("sh", ["-c", "sleep 600 & echo $!"]))
            #expect(await parent.exitStatus() == .exited(0))
            #expect(kill(parent.pid, 0) == 0, "nobody else is given it")
            let child = try #require(pid_t(parent.outputText.trimmingCharacters(in: .whitespacesAndNewlines)))
            #expect(getpgid(child) == parent.pid)
            await parent.stop()
            try await eventually("what it left has gone with it") { getpgid(child) != parent.pid }
        }
    }

    @Test("a child gets no misleading variable of the environment")
    func environment() async throws {
        try await withTestBed { bed in
            let result = try await bed.run(Launch("env", [], environment: ["NAMED": "yes"]))
            let names = Set(
                result.output.split(separator: "\n").compactMap { $0.split(separator: "=").first.map(String.init) })
            #expect(names.contains("NAMED"))
            #expect(names.isDisjoint(with: ["CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "BROKER_SOCKET", "https_proxy"]))
        }
    }
}

import BrokerTestSupport
import Foundation
import Testing

@Suite("What a test run leaves") struct UndertakerTests {
    @Test("when a test run dies, its processes and directories go with it, but not those it had ended itself")
    func undertaker() async throws {
        try await withTestBed { bed in
            let left = try bed.start(Launch("sleep", ["600"]))
            let kept = try bed.start(Launch("sleep", ["600"]))
            let directory = try bed.makeDirectory("left")
            let undertaker = try bed.start(Launch(PackageTree.fixture("undertaker"), [], hasInput: true))
            try undertaker.write(
                "process \(left.pid)\nprocess \(kept.pid)\ndirectory \(directory)\nended \(kept.pid)\n")
            undertaker.closeInput()
            #expect(await undertaker.exitStatus() == .exited(0))
            #expect(await left.exitStatus() == .killed(signal: SIGTERM))
            #expect(kept.isRunning)
            #expect(!FileManager.default.fileExists(atPath: directory))
        }
    }

    @Test("a child gets nothing of the environment that could lead it astray")
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

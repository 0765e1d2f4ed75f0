import BrokerTestSupport
import Foundation
import Testing

@Suite("Hardening of the process")
struct HardeningTests {
    @Test("hardening stops inspection, core dumps and new privileges, keeps files private, ignores SIGPIPE")
    func measures() async throws {
        try await withTestBed { bed in
            let probe = try bed.probe("harden", hasInput: true)
            try await probe.waitForText("ready")
            let said = probe.outputText
            #expect(said.contains("no inspection by other processes: holds"))
            #expect(said.contains("inspection: refused"))
            #expect(said.contains("write to a closed pipe: an error"))
            #expect(said.contains("low descriptors kept: holds"))
            let next = said.firstMatch(of: /next descriptor: (\d+)/).flatMap { Int($0.1) }
            #expect(try #require(next) >= 64)

            let status = try String(contentsOfFile: "/proc/\(probe.pid)/status", encoding: .utf8)
            #expect(status.contains("NoNewPrivs:\t1"))
            #expect(status.contains("Umask:\t0077"))
            let limits = try String(contentsOfFile: "/proc/\(probe.pid)/limits", encoding: .utf8)
            let core = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
            #expect(core?.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"])
            probe.closeInput()
        }
    }

    @Test("memory is locked only if no limit can turn a later allocation into a crash")
    func lockedMemory() async throws {
        try await withTestBed { bed in
            let program = try PackageTree.program("host-probe")
            let limited = try bed.start(
                Launch("prlimit", ["--memlock=65536:65536", program, "harden"], hasInput: true))
            try await limited.waitForText("ready")
            #expect(limited.outputText.contains("memory locked: errno \(EPERM)"))
            limited.closeInput()
        }
    }

    @Test("secrets in pages that cannot be locked are counted and reported")
    func unlocked() async throws {
        try await withTestBed { bed in
            // Root may lock more than the limit.
            let asUser = geteuid() == 0 ? ["setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock"] : []
            let words =
                asUser + ["prlimit", "--memlock=65536:65536", try PackageTree.program("host-probe"), "unlocked"]
            let result = try await bed.run(Launch(words[0], Array(words.dropFirst())))
            #expect(result.succeeded && result.output.hasPrefix("told of 1\n"), "\(result)")
        }
    }

    @Test("secrets without guarded pages are kept, counted, and reported each time they double")
    func unguarded() async throws {
        try await withTestBed { bed in
            let probe = try bed.probe("unguarded")
            #expect(await probe.exitStatus() == .exited(0))
            let lines = probe.outputText.split(separator: "\n").map(String.init)
            let count = try #require(lines.last?.wholeMatch(of: /unguarded (\d+) of 700, all there/)?.1)
            let unguarded = try #require(Int(count))
            #expect((1...700).contains(unguarded))
            let doublings = sequence(first: 1) { $0 * 2 }.prefix { $0 <= unguarded }
            #expect(lines.dropLast() == doublings.map { "told of \($0)" }[...])
        }
    }
}

import BrokerSystem
import BrokerTestSupport
import Foundation
import Testing

@Suite("Surroundings of a started program")
struct ProcessSurroundingsTests {
    @Test("a program has exactly the given environment, or that of this process")
    func environment() async throws {
        try await withTestBed { bed in
            let variables = ["A": "1", "EMPTY": "", "SIGNS": "a=b ä\n$A"]
            let given = try await bed.ending(of: ["/usr/bin/env", "-0"]) { $0.environment = variables }
            #expect(Set(given.output.split(separator: "\0")) == ["A=1", "EMPTY=", "SIGNS=a=b ä\n$A"])
            let none = try await bed.ending(of: ["/usr/bin/env", "-0"]) { $0.environment = [:] }
            #expect(none == Ending(status: 0, output: ""))
            let shared = try await bed.ending(of: ["/usr/bin/env", "-0"])
            let path = try #require(ProcessEnvironment.current()["PATH"])
            #expect(shared.output.split(separator: "\0").contains("PATH=\(path)"))
        }
    }

    @Test("a stream of nothing has no content and discards what is written")
    func nothing() async throws {
        try await withTestBed { bed in
            let words = "cat; echo lost >&2; for n in 0 2; do readlink /proc/$$/fd/$n; done"
            let ending = try await bed.ending(ofShell: words) { $0.streams[2] = .nothing }
            #expect(ending == Ending(status: 0, output: "/dev/null\n/dev/null\n"))
        }
    }

    @Test("a stream of a descriptor reads and writes there, under any number")
    func descriptors() async throws {
        try await withTestBed { bed in
            let (input, errors) = (bed.path("input"), bed.path("errors"))
            try "from the file\n".write(toFile: input, atomically: false, encoding: .utf8)
            let ending = try await bed.ending(ofShell: "cat; cat <&9; echo to the file >&2") {
                $0.streams[0] = .descriptor(try opened(input, O_RDONLY))
                $0.streams[9] = .descriptor(try opened(input, O_RDONLY))
                $0.streams[2] = .descriptor(try opened(errors, O_WRONLY | O_CREAT))
            }
            #expect(ending == Ending(status: 0, output: "from the file\nfrom the file\n"))
            #expect(try String(contentsOfFile: errors, encoding: .utf8) == "to the file\n")
        }
    }

    @Test("an appended file keeps its content and mode, and a new one is its owner's alone")
    func appended() async throws {
        try await withTestBed { bed in
            let (old, new) = (bed.path("old"), bed.path("new"))
            try "before\n".write(toFile: old, atomically: false, encoding: .utf8)
            try #require(chmod(old, 0o640) == 0)
            for file in [old, new] {
                let ending = try await bed.ending(ofShell: "echo after; echo errors >&2") {
                    $0.streams = [0: .nothing, 1: .appended(file), 2: .appended(file)]
                }
                #expect(ending.status == 0)
            }
            #expect(try String(contentsOfFile: old, encoding: .utf8) == "before\nafter\nerrors\n")
            #expect(try String(contentsOfFile: new, encoding: .utf8) == "after\nerrors\n")
            #expect(try mode(old) == 0o640 && mode(new) == 0o600)
        }
    }

    @Test("a stream's file that cannot be opened is an error, and nothing is started")
    func unopened() async throws {
        try await withTestBed { bed in
            let made = bed.path("made")
            let error = await #expect(throws: ProcessStart.Failure.self) {
                try await bed.ending(of: ["touch", made]) { $0.streams[2] = .appended(bed.path("no/folder")) }
            }
            #expect(error?.code == ENOENT && access(made, F_OK) != 0)
        }
    }

    @Test("a program inherits no descriptor that is closed at its start, nor one that is named")
    func closing() async throws {
        try await withTestBed { bed in
            let file = bed.path("file")
            try "".write(toFile: file, atomically: false, encoding: .utf8)
            // The shell's words get the numbers as arguments: closed at the start, inherited, named.
            let words = "for n; do readlink /proc/$$/fd/$n || echo closed; done"
            let output = bed.path("output")
            let status = try await separately {
                let own = try opened(file, O_RDONLY)
                let inherited = try opened(file, O_RDONLY, isInherited: true)
                let named = try opened(file, O_RDONLY, isInherited: true)
                var program = ProcessStart(["sh", "-c", words, "sh", "\(own)", "\(inherited)", "\(named)"])
                program.streams = [0: .nothing, 1: .appended(output), 2: .nothing]
                program.closing = [named]
                return exitStatus(of: try program.start())
            }
            #expect(status == 0)
            #expect(try String(contentsOfFile: output, encoding: .utf8) == "closed\n\(file)\nclosed\n")
        }
    }

    @Test("a program shares this process's group and session, or has its own")
    func groups() async throws {
        try await withTestBed { bed in
            let (ownGroup, ownSession) = (getpgrp(), getsid(0))
            for group in [ProcessStart.Group.shared, .own, .ownSession] {
                // Fields 5 and 6 of stat(5) are the group and the session.
                let ending = try await bed.ending(ofShell: "echo $$; sed 's/.*) //' /proc/$$/stat") { $0.group = group }
                let lines = ending.output.split(separator: "\n")
                try #require(lines.count == 2, "\(ending)")
                let fields = lines[1].split(separator: " ").map { pid_t($0) }
                let process = try #require(pid_t(lines[0]))
                #expect(fields[2] == (group == .shared ? ownGroup : process), "\(group)")
                #expect(fields[3] == (group == .ownSession ? process : ownSession), "\(group)")
            }
        }
    }

    @Test("a program blocks and ignores no signal, unless it shares those of this process")
    func signals() async throws {
        try await withTestBed { bed in
            // The thread that starts it blocks all signals (DetachedThread).
            for sharesSignals in [false, true] {
                let words = ["sed", "-n", "s/^Sig\\(Blk\\|Ign\\):\\t//p", "/proc/self/status"]
                let ending = try await bed.ending(of: words, sharesSignals: sharesSignals)
                let masks = ending.output.split(separator: "\n").compactMap { UInt64($0, radix: 16) }
                try #require(masks.count == 2, "\(ending)")
                let (blocked, ignored) = (masks[0], masks[1])
                #expect((blocked & (1 << UInt64(SIGTERM - 1)) != 0) == sharesSignals, "\(ending)")
                // 32 and 33 are the C library's own.
                if !sharesSignals { #expect((blocked | ignored) & ~(3 << 31) == 0, "\(ending)") }
            }
        }
    }

    private func mode(_ path: String) throws -> mode_t {
        var facts = stat()
        try #require(stat(path, &facts) == 0)
        return facts.st_mode & 0o7777
    }
}

import BrokerSystem
import BrokerTestSupport
import Foundation
import Testing

@Suite("Start of a program")
struct ProcessStartTests {
    @Test("a program's exit status is returned, and a signal as 128 and its number")
    func statuses() async throws {
        try await withTestBed { bed async throws in
            for status: Int32 in [0, 1, 127, 255] {
                #expect(try await bed.ending(ofShell: "exit \(status)").status == status)
            }
            for signal in [SIGKILL, SIGTERM, SIGPIPE] {
                #expect(try await bed.ending(ofShell: "kill -\(signal) $$").status == 128 + signal)
            }
        }
    }

    @Test("a program's status is unknown while it runs, and known without waiting once it has ended")
    func statusNow() async throws {
        try await withTestBed { bed async throws in
            let pipe = bed.path("pipe")
            try #require(mkfifo(pipe, 0o600) == 0)
            let (process, before) = try await separately { () throws -> (pid_t, Int32?) in
                // The test holds both ends, so that the program's input has no end yet.
                let end = try opened(pipe, O_RDWR)
                defer { close(end) }
                var program = ProcessStart(["sh", "-c", "read line; exit 7"])
                program.streams = [0: .descriptor(end), 1: .nothing]
                let process = try program.start()
                let before = exitStatusNow(of: process)
                _ = write(end, "go\n", 3)
                return (process, before)
            }
            #expect(before == nil)
            let status = try await awaited("the program has ended") { exitStatusNow(of: process) }
            #expect(status == 7)
        }
    }

    @Test("words are literal, whatever a shell would make of them")
    func words() async throws {
        try await withTestBed { bed async throws in
            let words = ["", " ", "$HOME", "`id`", "*", "a\nb", "'\"\\", "ä😀", "--", ";exit 1"]
            let ending = try await bed.ending(of: ["printf", "[%s]"] + words)
            #expect(ending == Ending(status: 0, output: words.map { "[\($0)]" }.joined()))
        }
    }

    @Test("a name without a slash is searched in PATH, and a path is used as it is")
    func search() async throws {
        try await withTestBed { bed async throws in
            let script = bed.path("a program")
            try "#!/bin/sh\necho \"$1\"\n".write(toFile: script, atomically: false, encoding: .utf8)
            try #require(chmod(script, 0o700) == 0)
            #expect(try await bed.ending(of: [script, "by path"]) == Ending(status: 0, output: "by path\n"))
            #expect(try await bed.ending(of: ["echo", "by name"]) == Ending(status: 0, output: "by name\n"))
            // Its folder is not in this process's PATH, which is searched, and not the program's.
            let code = try await failure(of: ["a program"]) { $0.environment = ["PATH": bed.directory.path] }
            #expect(code == ENOENT || code == EACCES)
        }
    }

    @Test("a missing program, a folder, and a file that is no program are errors with the system's reason")
    func missing() async throws {
        try await withTestBed { bed async throws in
            let file = bed.path("file")
            try "text".write(toFile: file, atomically: false, encoding: .utf8)
            #expect(try await failure(of: [bed.path("missing")]) == ENOENT)
            #expect(try await failure(of: [file + "/program"]) == ENOTDIR)
            #expect(try await failure(of: [bed.directory.path]) == EACCES)
            #expect(try await failure(of: [file]) == EACCES)
            try #require(chmod(file, 0o700) == 0)
            #expect(try await failure(of: [file]) == ENOEXEC, "no shell tries it")
            #expect(try await failure(of: [""]) == ENOENT)
        }
    }

    @Test("no words, and a zero byte in a word or variable, are refused before anything is started")
    func zeroBytes() async throws {
        try await withTestBed { bed async throws in
            let made = bed.path("made")
            #expect(try await failure(of: []) == EINVAL)
            #expect(try await failure(of: ["touch", made, "a\0b"]) == EINVAL)
            for variables in [["A": "a\0b"], ["A\0B": "a"]] {
                #expect(try await failure(of: ["touch", made]) { $0.environment = variables } == EINVAL)
            }
            #expect(access(made, F_OK) != 0)
        }
    }

    @Test("C strings are copies with a terminator, for the time of the body")
    func cStrings() {
        let copies = withCStrings(["", "a b", "ä😀"]) { pointers in pointers.map { $0.map { String(cString: $0) } } }
        #expect(copies == ["", "a b", "ä😀", nil])
        let count = withCStrings([]) { $0.count }
        #expect(count == 1)
    }

    /// The errno of a start that fails; `nil` if the program was started.
    private func failure(
        of words: [String], _ change: @escaping @Sendable (inout ProcessStart) -> Void = { _ in }
    ) async throws -> Int32? {
        try await separately { () throws -> Int32? in
            var program = ProcessStart(words)
            change(&program)
            do throws(ProcessStart.Failure) {
                _ = exitStatus(of: try program.start())
                return nil
            } catch {
                return error.code
            }
        }
    }
}

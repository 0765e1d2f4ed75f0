import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("Passphrases from programs", .serialized) struct PassphraseProgramTests {
    /// With characters that the protocol of pinentry must escape.
    private static let passphrase = "100% Rosen, grün"

    private func configuration(_ file: String, sources: String = "[\"passphrase\"]") -> String {
        "[vault]\nkey_source = \(sources)\npassphrase_command = [\"/bin/cat\", \"\(file)\"]\n"
    }

    private func write(_ text: String, to file: String) throws {
        try text.write(toFile: file, atomically: true, encoding: .utf8)
    }

    @Test(
        "a program supplies the passphrase of a new vault, and the broker unlocks without a person"
    )
    func command() async throws {
        try await withTestBed { bed in
            let file = bed.path("passphrase")
            try write(Self.passphrase + "\nanother line\n", to: file)
            let first = try await BrokerProcess.start(in: bed) { $0.configuration = configuration(file) }
            try await first.register("notes", clientID: "native", authority: "https://login.example.org/")
            #expect(try await first.call("keys.status")["source"] == "passphrase")
            await first.stop()
            let files = try FileManager.default.contentsOfDirectory(atPath: first.stateDirectory)
            #expect(!files.contains("vault.key"), "\(files)")

            let second = try await BrokerProcess.start(in: bed) {
                ($0.configuration, $0.stateDirectory) = (configuration(file), first.stateDirectory)
            }
            #expect(try await second.ctl(["apps", "list"]).output.contains("notes"))
            #expect(try await second.ctl(["lock"]).succeeded)
            #expect(try await second.ctl(["unlock"]).succeeded)
            #expect(try await second.ctl(["apps", "list"]).output.contains("notes"))
            #expect(!second.process.errorText.contains(Self.passphrase))
        }
    }

    @Test(
        "a program that fails, or supplies a wrong one, leaves the vault locked for a person to unlock"
    )
    func failingCommand() async throws {
        try await withTestBed { bed in
            let file = bed.path("passphrase")
            try write(Self.passphrase, to: file)
            let sources = "[\"passphrase\", \"key-file\"]"
            let first = try await BrokerProcess.start(in: bed) {
                $0.configuration = configuration(file, sources: sources)
            }
            await first.stop()
            for (text, why) in [
                ("", "printed nothing"), ("wrong horse", "is not the vault's passphrase"),
                (String(repeating: "x", count: 5_000), "printed too much"), (nil, "failed"),
            ] as [(String?, String)] {
                if let text { try write(text, to: file) } else { try FileManager.default.removeItem(atPath: file) }
                let broker = try await BrokerProcess.start(in: bed) {
                    ($0.configuration, $0.stateDirectory) = (
                        configuration(file, sources: sources), first.stateDirectory
                    )
                }
                #expect(try await broker.isLocked() == true, "\(why)")
                #expect(broker.process.errorText.contains(why), "\(broker.process.errorText)")
                let wrong = try await broker.ctl(["unlock", "--stdin"], input: "wrong horse\n")
                #expect(wrong.status == .exited(5), "\(wrong)")
                let right = try await broker.ctl(["unlock", "--stdin"], input: Self.passphrase + "\n")
                #expect(right.succeeded, "\(right)")
                #expect(try await broker.call("keys.status")["source"] == "passphrase")
                await broker.stop()
            }
        }
    }

    @Test("a vault with another source does not run the program")
    func otherSource() async throws {
        try await withTestBed { bed in
            let file = bed.path("asked")
            let broker = try await BrokerProcess.start(in: bed) {
                $0.configuration =
                    "[vault]\nkey_source = \"key-file\"\npassphrase_command = [\"/usr/bin/touch\", \"\(file)\"]\n"
            }
            #expect(try await broker.isLocked() == false)
            #expect(!FileManager.default.fileExists(atPath: file))
        }
    }

    @Test("a real pinentry asks on the terminal: twice for a new one, once to unlock", arguments: ["curses", "tty"])
    func pinentry(flavor: String) async throws {
        try await withTestBed { bed in
            let program = "/usr/bin/pinentry-\(flavor)"
            try #require(FileManager.default.isExecutableFile(atPath: program), "install \(program): .ci/deps test")
            let broker = try await BrokerProcess.start(in: bed)
            func run(_ words: [String], _ answers: Int) async throws -> Int32 {
                let terminal = try await Terminal.start(
                    Launch(
                        try PackageTree.program("brokerctl"),
                        ["--socket", broker.socket] + words + ["--pinentry", program]), columns: 100, rows: 30, in: bed)
                for number in 0..<answers {
                    try await terminal.wait(for: number == 0 ? "Passphrase:" : "The same again:")
                    try await terminal.paste(Self.passphrase)
                    // Version 1.3 asks for both in one form, whose return key would submit both.
                    let isForm = try await terminal.screen().contains { $0.contains("The same again:") }
                    try await terminal.press(isForm && number == 0 ? "Tab" : "Enter")
                }
                let status = try await terminal.exitStatus()
                #expect(try await !terminal.screen().contains { $0.contains("Rosen") })
                return status
            }
            #expect(try await run(["key", "set-source", "passphrase"], 2) == 0)
            #expect(try await broker.call("keys.status")["source"] == "passphrase")
            #expect(try await broker.ctl(["lock"]).succeeded)
            #expect(try await run(["unlock"], 1) == 0)
            #expect(try await broker.isLocked() == false)
            #expect(try await broker.ctl(["lock"]).succeeded)
            let typed = try await broker.ctl(["unlock", "--stdin"], input: Self.passphrase + "\n")
            #expect(typed.succeeded, "it is the passphrase that was meant: \(typed)")
        }
    }

    @Test("an unanswered, invalid or missing pinentry changes nothing")
    func noAnswer() async throws {
        try await withTestBed { bed in
            let broker = try await BrokerProcess.start(in: bed)
            _ = try await broker.ctl(["key", "set-source", "passphrase", "--stdin"], input: Self.passphrase + "\n")
            _ = try await broker.ctl(["lock"])
            // The shell checks whether the terminal's settings are restored.
            let terminal = try await Terminal.start(
                Launch(
                    "/bin/sh",
                    [
                        "-c",
                        #"trap : INT; was=$(stty -g); "$@"; status=$?; [ "$(stty -g)" = "$was" ] && echo As before.; exit $status"#,
                        "sh", try PackageTree.program("brokerctl"), "--socket", broker.socket, "unlock", "--pinentry",
                        "/usr/bin/pinentry-curses",
                    ]), columns: 100, rows: 30, in: bed)
            try await terminal.wait(for: "Passphrase:")
            try await terminal.press("C-c")
            try await terminal.wait(for: "As before.")
            #expect(try await terminal.exitStatus() == 130)
            #expect(try await !terminal.screen().contains { $0.contains("Passphrase:") })
            for (program, why) in [("/bin/true", "ended without an answer"), ("/nonexistent", "cannot be started")] {
                let result = try await broker.ctl(["unlock", "--pinentry", program])
                #expect(result.status == .exited(1) && result.errors.contains(why), "\(result)")
            }
            #expect(try await broker.ctl(["unlock", "--pinentry", "x", "--stdin"]).status == .exited(2))
            #expect(try await broker.isLocked() == true)
        }
    }

    @Test("a pinentry ends together with a killed brokerctl, or it would continue to read the terminal")
    func killed() async throws {
        try await withTestBed { bed in
            let broker = try await BrokerProcess.start(in: bed)
            _ = try await broker.ctl(["key", "set-source", "passphrase", "--stdin"], input: Self.passphrase + "\n")
            _ = try await broker.ctl(["lock"])
            let file = bed.path("pid")
            let terminal = try await Terminal.start(
                Launch(
                    "/bin/sh",
                    [
                        "-c", #"echo $$ > "$0"; exec "$@""#, file, try PackageTree.program("brokerctl"), "--socket",
                        broker.socket, "unlock", "--pinentry", "/usr/bin/pinentry-curses",
                    ]), columns: 100, rows: 30, in: bed)
            try await terminal.wait(for: "Passphrase:")
            let text = try String(contentsOfFile: file, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
            let pid = try #require(pid_t(text))
            let children = try String(contentsOfFile: "/proc/\(pid)/task/\(pid)/children", encoding: .utf8)
            let pinentry = try #require(children.split(separator: " ").first.flatMap { pid_t($0) })
            @Sendable func program() -> String? {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pinentry)/exe")
            }
            // After its end, its number may be another test's.
            bed.atEnd { if program()?.hasSuffix("pinentry-curses") == true { kill(pinentry, SIGKILL) } }
            #expect(program()?.hasSuffix("pinentry-curses") == true)
            #expect(kill(pid, SIGKILL) == 0)
            try await eventually("the pinentry is gone") { program() == nil }
        }
    }
}

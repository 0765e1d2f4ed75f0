import BrokerTestSupport
import Foundation
import Testing

/// A stopped daemon (SIGSTOP, a deadlock, a frozen cgroup) blocks neither a person nor git and kubectl.
@Suite("A stopped broker", .serialized) struct StoppedBrokerTests {
    /// Each command that sends requests, as a person or a program would run it.
    private static func commands(in bed: TestBed) throws -> [(words: [String], input: String?)] {
        let folder = try bed.makeDirectory("files")
        let password = folder + "/passphrase"
        try "correct horse battery staple\n".write(toFile: password, atomically: true, encoding: .utf8)
        let plain: [[String]] = [
            ["status"], ["doctor"], ["audit"], ["metrics"], ["watch"], ["lock"],
            ["token", "--app", "notes", "--scope", "notes.read"],
            ["login", "--app", "notes", "--no-browser"], ["login", "--app", "notes", "--device-code"],
            ["accounts", "list"], ["accounts", "show", "alice"], ["accounts", "remove", "alice", "--app", "notes"],
            ["accounts", "sign-out", "alice"], ["logout", "--app", "notes"],
            ["apps", "list"], ["apps", "show", "notes"], ["apps", "remove", "notes"],
            ["apps", "add", "other", "--client-id", "c", "--authority", "https://id.example.org"],
            ["apps", "edit", "notes", "--scope", "notes.read"],
            ["grants", "list"], ["grants", "approve", "g-1"], ["grants", "deny", "g-1"], ["grants", "revoke", "g-1"],
            ["sandboxes", "list"], ["cache", "stats"], ["cache", "accept-restore"],
            ["key", "status"], ["key", "rotate"], ["key", "remove-source", "passphrase"],
            ["cache", "clear"], ["doors"],
            ["ssh", "--app", "notes", "devbox"], ["accounts", "default", "alice", "--app", "notes"],
            ["partitions", "list"],
            ["sandboxes", "add", "--engine", "podman", "--id", "box", "--app", "notes"],
            ["run-in", "--engine", "podman", "--id", "box", "--app", "notes", "--", "true"],
            ["config", "show"], ["config", "get", "log.level"],
            ["handle-redirect", "http://127.0.0.1:1/?code=c&state=s"],
            ["kube-credential", "--app", "notes"], ["token-file", "--app", "notes", folder + "/token"],
        ]
        return plain.map { ($0, nil) } + [
            (["git-credential", "--app", "notes", "get"], "protocol=https\nhost=git.example.org\n\n"),
            (["unlock", "--stdin"], "p\n"),
            (["key", "add-source", "passphrase", "--stdin"], "correct horse battery staple\n"),
            (["key", "set-source", "passphrase", "--stdin"], "correct horse battery staple\n"),
            (["cache", "export", folder + "/backup", "--stdin"], "correct horse battery staple\n"),
        ]
    }

    @Test("every command ends, reports that the broker does not answer, and exits with the status for no broker")
    func everyCommandEnds() async throws {
        try await withTestBed { bed in
            let broker = try await BrokerProcess.start(in: bed)
            broker.process.send(SIGSTOP)
            defer { broker.process.send(SIGCONT) }
            let commands = try Self.commands(in: bed)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (words, input) in commands {
                    group.addTask {
                        let result = try await broker.ctl(words, input: input)
                        #expect(result.status == .exited(3) || words == ["doctor"], "\(words): \(result)")
                        #expect((result.errors + result.output).contains("does not answer"), "\(words): \(result)")
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}

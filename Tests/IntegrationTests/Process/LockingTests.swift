import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("Locks and keys of the real programs", .serialized) struct LockingTests {
    private static let passphrase = "correct horse battery staple"

    @Test("brokerctl locks and unlocks, and a script in between learns why it gets nothing")
    func lockAndUnlock() async throws {
        try await withTestBed { bed in
            let broker = try await BrokerProcess.start(in: bed)
            try await broker.register("notes", clientID: "native", authority: "https://login.example.org/")
            #expect(try await broker.ctl(["lock"]).status == .exited(0))
            let refused = try await broker.ctl(["apps", "list"])
            #expect(refused.status == .exited(4) && refused.errors.contains("brokerctl unlock"), "\(refused)")
            let asJSON = try await broker.ctl(["--json", "accounts", "list"])
            #expect(asJSON.output.contains("\"locked\""), "\(asJSON)")
            #expect(try await broker.ctl(["status"]).output.contains("locked"))
            #expect(try await broker.ctl(["unlock"]).status == .exited(0))
            #expect(try await broker.ctl(["apps", "list"]).output.contains("notes"))
        }
    }

    @Test("with a passphrase the next start is locked, a wrong one is refused, the right one unlocks")
    func passphrase() async throws {
        try await withTestBed { bed in
            let first = try await BrokerProcess.start(in: bed)
            try await first.register("notes", clientID: "native", authority: "https://login.example.org/")
            let set = try await first.ctl(
                ["key", "set-source", "passphrase", "--stdin"], input: Self.passphrase + "\n")
            #expect(set.status == .exited(0), "\(set)")
            #expect(try await first.ctl(["apps", "list"]).output.contains("notes"))
            await first.stop()
            #expect(!FileManager.default.fileExists(atPath: "\(first.stateDirectory)/vault.key"))

            let second = try await BrokerProcess.start(in: bed) { $0.stateDirectory = first.stateDirectory }
            #expect(try await second.isLocked() == true)
            let none = try await second.ctl(["unlock", "--stdin"], input: "")
            #expect(none.status == .exited(1), "\(none)")
            let wrong = try await second.ctl(["unlock", "--stdin"], input: "incorrect horse\n")
            #expect(wrong.status == .exited(5) && wrong.errors.contains("passphrase"), "\(wrong)")
            #expect(try await second.isLocked() == true)
            let right = try await second.ctl(["unlock", "--stdin"], input: Self.passphrase + "\n")
            #expect(right.status == .exited(0), "\(right)")
            #expect(try await second.ctl(["apps", "list"]).output.contains("notes"))
            let status = try await second.ctl(["--json", "key", "status"]).output
            #expect(status.contains("\"passphrase\"") && status.contains("wrappedOn"), "\(status)")
        }
    }

    @Test("a passphrase is asked for on the terminal, without echo")
    func terminal() async throws {
        try await withTestBed { bed in
            let broker = try await BrokerProcess.start(in: bed)
            _ = try await broker.ctl(["key", "set-source", "passphrase", "--stdin"], input: Self.passphrase + "\n")
            _ = try await broker.ctl(["lock"])
            let ctl = try PackageTree.program("brokerctl")
            // script(1) gives it a terminal, and types only after the prompt.
            let result = try await bed.run(
                Launch(
                    "/bin/sh",
                    [
                        "-c",
                        """
                        mkfifo "$2/in"
                        script -qefc "$0 --socket $1 unlock" "$2/typescript" < "$2/in" > /dev/null &
                        exec 3> "$2/in"
                        until grep -q Passphrase "$2/typescript" 2> /dev/null; do sleep 0.05; done
                        echo "$3" >&3
                        wait $!
                        status=$?
                        cat "$2/typescript"
                        exit $status
                        """, ctl, broker.socket, try bed.makeDirectory("tty"), Self.passphrase,
                    ]))
            #expect(result.status == .exited(0), "\(result)")
            #expect(!result.output.contains(Self.passphrase) && result.output.contains("unlocked"), "\(result)")
            #expect(try await broker.isLocked() == false)
        }
    }

    @Test("brokerd ends with status 4 if its credential is gone, and opens with it again")
    func credential() async throws {
        try await withTestBed { bed in
            let folder = try bed.makeDirectory("credentials")
            try Data(repeating: 7, count: 32).write(to: URL(filePath: "\(folder)/vault-key"))
            let first = try await BrokerProcess.start(in: bed) {
                $0.configuration = "[vault]\nkey_source = \"credential\"\n"
                $0.wrapper = ["/usr/bin/env", "CREDENTIALS_DIRECTORY=\(folder)"]
            }
            #expect(try await first.ctl(["key", "status"]).output.contains("credential"))
            await first.stop()
            let refused = try await BrokerProcess.run(in: bed) { $0.stateDirectory = first.stateDirectory }
            #expect(refused.status == .exited(4) && refused.errors.contains("LoadCredential"), "\(refused)")
            let second = try await BrokerProcess.start(in: bed) {
                $0.stateDirectory = first.stateDirectory
                $0.wrapper = ["/usr/bin/env", "CREDENTIALS_DIRECTORY=\(folder)"]
            }
            #expect(try await second.isLocked() == false)
        }
    }
}

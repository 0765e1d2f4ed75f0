import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("Backups by the real programs", .serialized) struct BackupTests {
    private static let passphrase = "correct horse battery staple\n"

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test("a broker imports another's backup and continues with its apps, secrets, accounts, tokens, DPoP keys")
    func elsewhere() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let provider = scene.provider
            let signIn = try await scene.broker.signIn(
                app: "notes", scopes: [DevelopmentScene.scope], ["tokenType": "DPoP"], in: bed
            ) { try await provider.signIn(.alice, at: $0, in: bed) }
            let file = bed.path("broker.backup")
            let saved = try await scene.broker.ctl(["cache", "export", file, "--stdin"], input: Self.passphrase)
            #expect(saved.status == .exited(0) && saved.output.contains("Saved to \(file)"), "\(saved)")
            #expect(try mode(file) == 0o600)

            let other = try await BrokerProcess.start(in: bed)
            let wrong = try await other.ctl(["cache", "import", file, "--stdin"], input: "incorrect horse\n")
            #expect(wrong.status == .exited(5) && wrong.errors.contains("try again"), "\(wrong)")
            #expect(try await other.ctl(["apps", "list", "--names"]).output == "")
            let merged = try await other.ctl(["cache", "import", file, "--stdin"], input: Self.passphrase)
            #expect(merged.status == .exited(0), "\(merged)")
            #expect(
                merged.output.contains("Refresh tokens  1 added") && merged.output.contains("DPoP keys       1 added"))
            // The provider accepts the token only with a proof of the key that it is bound to.
            let token = try await other.acquireSilent(
                app: "notes", scopes: [DevelopmentScene.scope], ["tokenType": "DPoP"])
            #expect(token[path: "tokenType"] == "DPoP" && token[path: "fromCache"] == false)
            // The id is specific to each vault; the identity is not.
            #expect(token[path: "account.id"] != signIn.token[path: "account.id"])
            #expect(token[path: "account.homeAccountId"] == signIn.token[path: "account.homeAccountId"])
        }
    }

    @Test("an existing file is replaced only with --force, and a failure leaves nothing behind")
    func files() async throws {
        try await withTestBed { bed in
            let broker = try await BrokerProcess.start(in: bed)
            let folder = try bed.makeDirectory("backups")
            let file = "\(folder)/one"
            try "precious".write(toFile: file, atomically: true, encoding: .utf8)
            let refused = try await broker.ctl(["cache", "export", file, "--stdin"], input: Self.passphrase)
            #expect(refused.status == .exited(1) && refused.errors.contains("--force"), "\(refused)")
            let short = try await broker.ctl(["cache", "export", file, "--stdin", "--force"], input: "short\n")
            #expect(short.status == .exited(1) && short.errors.contains("at least 8"), "\(short)")
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "precious")
            let foreign = try await broker.ctl(["cache", "import", file, "--stdin"], input: Self.passphrase)
            #expect(foreign.status == .exited(1) && foreign.errors.contains("not a backup"), "\(foreign)")
            let forced = try await broker.ctl(["cache", "export", file, "--stdin", "--force"], input: Self.passphrase)
            #expect(forced.status == .exited(0), "\(forced)")
            #expect(try mode(file) == 0o600)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["one"])
            let state = try FileManager.default.contentsOfDirectory(atPath: broker.stateDirectory)
            #expect(!state.contains { $0.hasPrefix("import-") })
        }
    }

    @Test("on a full disk an export fails, and leaves nothing behind", .needsRoot)
    func fullDisk() async throws {
        try await withTestBed { bed in
            let broker = try await BrokerProcess.start(in: bed)
            // Several parts, and more than the disk has.
            for number in 0..<24 {
                try await broker.register(
                    "app-\(number)", clientID: "c", authority: "https://login.example.org/",
                    ["clientSecret": .string(String(repeating: "s", count: 1000))])
            }
            let disk = try await SmallDisk.make(in: bed, size: "16k")
            let result = try await broker.ctl(
                ["cache", "export", "\(disk.outside)/backup", "--stdin"], input: Self.passphrase)
            #expect(result.status == .exited(1), "\(result)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: disk.outside) == [])
            #expect(result.errors.contains("cannot be written"), "\(result)")
        }
    }

    @Test("a new passphrase is asked for twice on the terminal, and never displayed")
    func terminal() async throws {
        try await withTestBed { bed in
            let broker = try await BrokerProcess.start(in: bed)
            let file = bed.path("broker.backup")
            let terminal = try await Terminal.start(
                Launch(
                    try PackageTree.program("brokerctl"), ["--socket", broker.socket, "cache", "export", file]),
                columns: 120, rows: 10, in: bed)
            try await terminal.wait(for: "Passphrase of the backup:")
            try await terminal.paste("correct horse\n")
            try await terminal.wait(for: "The same again:")
            try await terminal.paste("correct horse\n")
            try await terminal.wait(for: "Saved to")
            #expect(try await terminal.exitStatus() == 0)
            #expect(try await !terminal.screen().contains { $0.contains("correct") })
        }
    }
}

import BrokerTestSupport
import DevIdentityProvider
import Foundation
import Testing

/// Mail is read from a Dovecot that validates the token at the provider.
@Suite(
    "Mail from Dovecot, with a provider's token from the broker", .serialized, .needsRoot,
    .enabled(if: Prerequisite.mailPrograms.shouldRun, "\(Prerequisite.mailPrograms.missing ?? "")"))
struct DovecotTests {
    private struct Scene {
        let scene: DevelopmentScene
        let bed: TestBed
        let port: UInt16
        let authority: String
        private let programs: String
        private let folder: String

        /// With one mail for Alice.
        init(in bed: TestBed) async throws {
            self.bed = bed
            scene = try await DevelopmentScene.make(in: bed)
            port = try FreePort.next()
            folder = try bed.makeDirectory("dovecot")
            let tls = try await TestCertificate.make(in: bed)
            authority = tls.authority
            programs = try bed.makeDirectory("bin")
            try FileManager.default.createSymbolicLink(
                atPath: "\(programs)/brokerctl", withDestinationPath: try PackageTree.program("brokerctl"))
            let version = try await bed.require("dovecot", ["--version"])
            let configuration = DovecotConfiguration(
                folder: folder, port: port, certificate: tls.certificate, key: tls.key,
                userInfo: "\(scene.provider.issuer)/userinfo", isOld: version.hasPrefix("2.3."))
            for (name, text) in configuration.files {
                try text.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
            }
            for name in ["new", "cur", "tmp"] {
                try FileManager.default.createDirectory(
                    atPath: "\(folder)/mail/alice/\(name)", withIntermediateDirectories: true)
            }
            try "From: bob@example.org\nSubject: Hello from Dovecot\n\nHello\n"
                .write(toFile: "\(folder)/mail/alice/new/1", atomically: true, encoding: .utf8)
            // Its processes have separate users.
            _ = try await bed.require("chown", ["-R", "65534:65534", "\(folder)/mail"])
            _ = try await bed.require("chmod", ["711", bed.directory.path, folder])
            let server = try bed.start(Launch("dovecot", ["-F", "-c", "\(folder)/dovecot.conf"]), as: "dovecot")
            let port = port
            try await eventually("Dovecot listens") {
                try server.requireRunning()
                return try await bed.run(Launch("bash", ["-c", "true 2> /dev/null > /dev/tcp/127.0.0.1/\(port)"]))
                    .succeeded
            }
        }

        var environment: [String: String] {
            [
                "HOME": bed.directory.path, "PATH": "\(programs):/usr/bin:/bin",
                "BROKER_SOCKET": scene.broker.socket,
            ]
        }

        /// A program's settings: the page's lines for this server, and others.
        func settings(_ section: String, _ words: [String], _ more: String, as name: String) throws -> String {
            let path = bed.path(name)
            let lines = try words.flatMap { try Recipe.lines(of: section, beginningWith: $0) }
            let text = lines.map { $0.replacing("imap.example.org", with: "127.0.0.1") + "\n" }.joined() + more
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            chmod(path, 0o600)
            return path
        }
    }

    @Test("mbsync fetches the mail, but nothing without a sign-in")
    func mbsync() async throws {
        try await withTestBed { bed in
            let mail = try await Scene(in: bed)
            let local = try bed.makeDirectory("local")
            let words = ["IMAPAccount", "Host", "SSLType", "User", "AuthMechs", "PassCmd"]
            let settings = try mail.settings(
                "isync (mbsync)", words,
                """
                Port \(mail.port)
                CertificateFile \(mail.authority)

                IMAPStore far
                Account work

                MaildirStore near
                Path \(local)/
                Inbox \(local)/INBOX

                Channel work
                Far :far:
                Near :near:
                Patterns INBOX
                Create Near

                """, as: "mbsyncrc")
            let fetch = Launch("mbsync", ["-c", settings, "work"], environment: mail.environment)
            let refused = try await bed.run(fetch)
            #expect(!refused.succeeded && refused.errors.contains("brokerctl login --app notes"), "\(refused)")
            try await mail.scene.signIn()
            let fetched = try await bed.run(fetch)
            #expect(fetched.succeeded, "\(fetched)")
            let paths = try ["cur", "new"].flatMap { folder in
                try FileManager.default.contentsOfDirectory(atPath: "\(local)/INBOX/\(folder)").map {
                    "\(local)/INBOX/\(folder)/\($0)"
                }
            }
            let texts = try paths.map { try String(contentsOfFile: $0, encoding: .utf8) }
            #expect(texts.count == 1 && texts[0].contains("Hello from Dovecot"), "\(texts)")
        }
    }

    @Test("mutt and neomutt show the mail", arguments: ["mutt", "neomutt"])
    func read(program: String) async throws {
        try await withTestBed { bed in
            let mail = try await Scene(in: bed)
            try await mail.scene.signIn()
            let settings = try mail.settings(
                "mutt and neomutt", ["set"],
                """
                set ssl_ca_certificates_file="\(mail.authority)" certificate_file="\(mail.authority)"
                set folder="imaps://alice@127.0.0.1:\(mail.port)/" spoolfile="+INBOX"

                """, as: "muttrc")
            let terminal = try await Terminal.start(
                Launch(program, ["-n", "-F", settings], environment: mail.environment), columns: 80, rows: 20, in: bed)
            try await terminal.wait(for: "Hello from Dovecot")
        }
    }
}

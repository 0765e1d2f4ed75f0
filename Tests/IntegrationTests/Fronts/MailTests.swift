import BrokerTestSupport
import Foundation
import Testing

@Suite("Mail programs and curl, with a provider's token from the broker")
struct MailTests {
    /// A mail server that accepts the development provider's tokens, and a person's shell.
    private struct Scene {
        let scene: DevelopmentScene
        let server: ManagedProcess
        let imap: Substring
        let smtp: Substring
        let bed: TestBed
        let programs: String

        static func make(in bed: TestBed) async throws -> Scene {
            let scene = try await DevelopmentScene.make(in: bed)
            let server = try bed.start(
                Launch(PackageTree.fixture("mail-server.py"), ["\(scene.provider.issuer)/userinfo"]), as: "mail-server")
            try await server.waitForText("\n")
            let words = server.outputText.split(whereSeparator: \.isWhitespace)
            let programs = try bed.makeDirectory("bin")
            try FileManager.default.createSymbolicLink(
                atPath: "\(programs)/brokerctl", withDestinationPath: try PackageTree.program("brokerctl"))
            return Scene(
                scene: scene, server: server, imap: words[1], smtp: words[2], bed: bed, programs: programs)
        }

        var said: [String] { server.outputText.split(separator: "\n").dropFirst().map(String.init) }

        func shell(_ command: String, input: String? = nil) async throws -> CommandResult {
            try await bed.run(
                Launch(
                    "sh", ["-c", command],
                    environment: [
                        "HOME": bed.directory.path, "PATH": "\(programs):/usr/bin:/bin",
                        "BROKER_SOCKET": scene.broker.socket,
                    ]), input: input)
        }

        /// A file of the program's settings: the page's lines, for this server.
        func settings(_ section: String, _ words: [String], as name: String) throws -> String {
            let path = bed.path(name)
            let lines = try words.flatMap { try Recipe.lines(of: section, beginningWith: $0) }
            let text = lines.map { $0 + "\n" }.joined()
                .replacing("smtp://alice@smtp.example.org:587", with: "smtp://alice@127.0.0.1:\(smtp)")
                .replacing("smtp.example.org", with: "127.0.0.1").replacing("587", with: smtp)
                .replacing("tls on", with: "tls off")
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            chmod(path, 0o600)
            return path
        }
    }

    @Test("curl calls an API and reads a mailbox, and the token is in no argument")
    func curl() async throws {
        try await withTestBed { bed in
            let mail = try await Scene.make(in: bed)
            try await mail.scene.signIn()
            let lines = try Recipe.lines(of: "curl", beginningWith: "brokerctl token")
            for line in lines {
                let command = line.replacing(
                    "https://api.example.org/me", with: "\(mail.scene.provider.issuer)/userinfo")
                let result = try await mail.shell(command.replacing("curl ", with: "curl --silent "))
                #expect(result.succeeded && result.output.contains("alice"), "\(result)")
            }
            for line in try Recipe.lines(of: "curl", beginningWith: "printf") {
                let result = try await mail.shell(
                    line.replacing("imaps://imap.example.org", with: "imap://127.0.0.1:\(mail.imap)"))
                #expect(result.succeeded && result.output.contains("INBOX"), "\(result)")
            }
            #expect(mail.said.first?.hasPrefix("imap ") == true && mail.said.allSatisfy { $0.hasSuffix(" alice good") })
        }
    }

    @Test("a server accepts the prepared XOAUTH2 response")
    func ready() async throws {
        try await withTestBed { bed in
            let mail = try await Scene.make(in: bed)
            try await mail.scene.signIn()
            // The dialogue by hand: bash has sockets.
            let dialogue = """
                exec 3<>/dev/tcp/127.0.0.1/\(mail.imap)
                printf 'a AUTHENTICATE XOAUTH2 %s\\r\\nb LOGOUT\\r\\n' "$(brokerctl token --app notes --format xoauth2)" >&3
                cat <&3
                """
            let result = try await mail.shell("bash -c '\(dialogue.replacing("'", with: "'\\''"))'")
            #expect(result.output.contains("a OK"), "\(result)")
            #expect(mail.said == ["imap XOAUTH2 alice good"])
        }
    }

    @Test(
        "msmtp sends by either mechanism, and without a sign-in it sends nothing",
        .enabled(if: Prerequisite.mailPrograms.shouldRun, "\(Prerequisite.mailPrograms.missing ?? "")"))
    func msmtp() async throws {
        try await withTestBed { bed in
            let mail = try await Scene.make(in: bed)
            let words = ["account", "host", "port", "tls", "auth", "user", "from", "passwordeval"]
            let settings = try mail.settings("msmtp", words, as: "msmtprc")
            let send = "msmtp --file=\(settings) --account=work bob@example.org"
            let refused = try await mail.shell(send, input: "Subject: x\n\nHello\n")
            #expect(!refused.succeeded && refused.errors.contains("brokerctl login --app notes"), "\(refused)")
            #expect(!mail.said.contains { $0.contains("good") || $0.hasPrefix("mail") })
            try await mail.scene.signIn()
            for mechanism in ["xoauth2", "oauthbearer"] {
                let sent = try await mail.shell("\(send) --auth=\(mechanism)", input: "Subject: x\n\nHello\n")
                #expect(sent.succeeded, "\(sent)")
                #expect(mail.said.suffix(2).first == "smtp \(mechanism.uppercased()) alice good")
                #expect(mail.said.last?.hasPrefix("mail <alice@example.org> ") == true)
            }
        }
    }

    @Test(
        "mutt sends with the token that its command prints",
        .enabled(if: Prerequisite.mailPrograms.shouldRun, "\(Prerequisite.mailPrograms.missing ?? "")"))
    func mutt() async throws {
        try await withTestBed { bed in
            let mail = try await Scene.make(in: bed)
            try await mail.scene.signIn()
            let settings = try mail.settings("mutt and neomutt", ["set"], as: "muttrc")
            let result = try await mail.shell(
                "mutt -n -F \(settings) -e 'set from=alice@example.org ssl_starttls=no ssl_force_tls=no copy=no' "
                    + "-s Hello -- bob@example.org", input: "Hello\n")
            #expect(result.succeeded, "\(result)")
            #expect(mail.said.contains { $0.hasPrefix("smtp ") && $0.hasSuffix(" alice good") }, "\(mail.said)")
            #expect(mail.said.last?.hasPrefix("mail <alice@example.org> ") == true, "\(mail.said)")
        }
    }
}

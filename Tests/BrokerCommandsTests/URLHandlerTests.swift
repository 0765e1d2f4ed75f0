import BrokerCommands
import BrokerTestSupport
import Foundation
import Testing

@Suite("URL handlers")
struct URLHandlerTests {
    @Test(
        "a handler requires a scheme of the app's own, which contains a dot",
        arguments: [
            ("msauth.org.example.mail://auth", "msauth.org.example.mail"), ("MSAuth.Mail:/x", "msauth.mail"),
            ("https://example.org/cb", nil), ("http://127.0.0.1/", nil), ("mailto:x", nil), ("msauth:x", nil),
            (".a:x", nil), ("a.b", nil), ("a.b;c.d://x", nil), ("a.b c://x", nil), ("1a.b://x", nil), ("", nil),
        ] as [(String, String?)])
    func scheme(uri: String, expected: String?) {
        #expect(URLHandler(app: "mail", redirectURI: uri)?.scheme == expected)
    }

    @Test("every app name maps to a unique file name")
    func names() {
        #expect(URLHandler.desktopID(of: "mail-1.x") == "brokerd-mail-1.x.desktop")
        #expect(URLHandler.desktopID(of: "../a b;") == "brokerd-.._2fa_20b_3b.desktop")
        #expect(URLHandler.desktopID(of: "a_20b") != URLHandler.desktopID(of: "a b"))
    }

    @Test("the list keeps its entries and puts the handler first")
    func associations() {
        let list =
            "# mine\n[Added Associations]\nx-scheme-handler/a.b=other.desktop\n\n[Default Applications]\ntext/plain=e.desktop\n"
        let added = MimeApplications.adding("brokerd-m.desktop", for: "x-scheme-handler/a.b", to: list)
        #expect(
            added
                == list.replacingOccurrences(
                    of: "[Default Applications]\n",
                    with: "[Default Applications]\nx-scheme-handler/a.b=brokerd-m.desktop;\n"))
        #expect(MimeApplications.adding("brokerd-m.desktop", for: "x-scheme-handler/a.b", to: added) == added)
        #expect(MimeApplications.removing("brokerd-m.desktop", from: added) == list)
        let shared = MimeApplications.adding(
            "brokerd-m.desktop", for: "x-scheme-handler/a.b",
            to: "[Default Applications]\nx-scheme-handler/a.b=old.desktop")
        #expect(shared == "[Default Applications]\nx-scheme-handler/a.b=brokerd-m.desktop;old.desktop;\n")
        #expect(
            MimeApplications.removing("brokerd-m.desktop", from: shared)
                == "[Default Applications]\nx-scheme-handler/a.b=old.desktop;\n")
        #expect(MimeApplications.adding("x.desktop", for: "t/u", to: "") == "[Default Applications]\nt/u=x.desktop;\n")
    }

    @Test("a combining mark does not hide a quote")
    func combiningMarks() throws {
        let handler = try #require(URLHandler(app: "notes", redirectURI: "msauth.org.example.notes://auth"))
        let entry = handler.desktopEntry(command: ["/opt/a\"\u{301} evil"])
        #expect(entry.unicodeScalars.contains("\u{301}"))
        #expect(Array(entry.utf8).firstRange(of: Array("a\\\\\"\u{301} evil".utf8)) != nil)
    }

    @Test("the program and its options are quoted for the desktop")
    func quoting() throws {
        let handler = try #require(URLHandler(app: "m\\a\nil", redirectURI: "a.b://x"))
        let entry = handler.desktopEntry(command: ["/opt/my $tools/100%/broker\"ctl", "--socket", "/x"])
        #expect(entry.contains(##"Exec="/opt/my \\$tools/100%%/broker\\"ctl" "--socket" "/x" handle-redirect %u"##))
        #expect(entry.contains(##"Name=Sign-in to m\\ail"##))
    }

    private static let app =
        #"{"app":{"name":"mail","clientId":"c","authority":"https://a.example","scopes":[],"executables":[],"units":[],"#
        + #""sandboxIds":[],"confidential":false}}"#

    @Test("the desktop's tools find the handler while the app is registered, then the earlier one")
    func installed() async throws {
        let broker = try broker(["apps.register": Self.app, "apps.remove": Self.app])
        let home = NSTemporaryDirectory() + "handler-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: home) }
        let surroundings = ["HOME": home, "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": "", "XDG_CURRENT_DESKTOP": ""]
        let add = [
            "apps", "add", "mail", "--client-id", "c", "--authority", "https://a.example", "--redirect-uri",
            "msauth.mail://auth", "--url-handler",
        ]
        let added = try await brokerctl(add, at: broker.path, environment: surroundings)
        #expect(added.status == .exited(0), "\(added.errors)")
        let entry = home + "/.local/share/applications/brokerd-mail.desktop"
        let text = try String(contentsOfFile: entry, encoding: .utf8)
        #expect(text.contains("handle-redirect %u"))
        let tools = [
            ("xdg-mime", ["query", "default", "x-scheme-handler/msauth.mail"], "brokerd-mail.desktop\n"),
            ("desktop-file-validate", [entry], ""),
        ]
        for (tool, arguments, expected) in tools where FileManager.default.isExecutableFile(atPath: "/usr/bin/\(tool)")
        {
            let answer = try await withTestBed { bed in
                try await bed.run(Launch(tool, arguments, environment: surroundings))
            }
            #expect(answer.output == expected)
            #expect(answer.status == .exited(0))
        }
        let removed = try await brokerctl(["apps", "remove", "mail"], at: broker.path, environment: surroundings)
        #expect(removed.status == .exited(0))
        #expect(!FileManager.default.fileExists(atPath: entry))
        #expect(try !String(contentsOfFile: home + "/.config/mimeapps.list", encoding: .utf8).contains("brokerd"))
    }

    @Test("a list of handlers that is not UTF-8 is not changed")
    func foreignList() async throws {
        let broker = try broker(["apps.register": Self.app])
        let home = NSTemporaryDirectory() + "handler-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: home) }
        let list = URL(filePath: home + "/.config/mimeapps.list")
        try FileManager.default.createDirectory(
            at: list.deletingLastPathComponent(), withIntermediateDirectories: true)
        let bytes = Data("[Default Applications]\n# caf\u{e9}".unicodeScalars.map { UInt8($0.value) })
        try bytes.write(to: list)
        let added = try await brokerctl(
            [
                "apps", "add", "mail", "--client-id", "c", "--authority", "https://a.example", "--redirect-uri",
                "msauth.mail://auth", "--url-handler",
            ], at: broker.path,
            environment: ["HOME": home, "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": "", "XDG_CURRENT_DESKTOP": ""])
        #expect(added.status == .exited(1))
        #expect(added.errors.contains("mail is registered") && added.errors.contains("mimeapps.list cannot be read"))
        #expect(try Data(contentsOf: list) == bytes)
        #expect(!FileManager.default.fileExists(atPath: home + "/.local/share/applications"))
    }

    @Test("an app is removed although its handler cannot be, and the person reads why")
    func removedWithoutHandler() async throws {
        let broker = try broker(["apps.remove": Self.app])
        let homeless = try await brokerctl(["apps", "remove", "mail"], at: broker.path, environment: ["HOME": ""])
        #expect(homeless.succeeded && homeless.errors.isEmpty, "\(homeless)")
        let home = NSTemporaryDirectory() + "handler-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: home) }
        try FileManager.default.createDirectory(atPath: home + "/.config", withIntermediateDirectories: true)
        try Data([0xE9]).write(to: URL(filePath: home + "/.config/mimeapps.list"))
        let folder = home + "/.local/share/applications"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data().write(to: URL(filePath: folder + "/brokerd-mail.desktop"))
        let removed = try await brokerctl(
            ["apps", "remove", "mail"], at: broker.path,
            environment: ["HOME": home, "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": ""])
        #expect(removed.succeeded && removed.output == "Removed mail.\n", "\(removed)")
        #expect(removed.errors.contains("remove brokerd-mail.desktop from it"))
    }

    @Test("the handler of an app that was removed before goes with the next attempt")
    func removedLater() async throws {
        let broker = try ScriptedBroker.refusing("appNotFound", message: "No such app.")
        let home = NSTemporaryDirectory() + "handler-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: home) }
        let folder = home + "/.local/share/applications"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data().write(to: URL(filePath: folder + "/brokerd-mail.desktop"))
        try FileManager.default.createDirectory(atPath: home + "/brokerd", withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            atPath: home + "/brokerd/broker.sock", withDestinationPath: broker.path)
        let environment = ["HOME": home, "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": "", "XDG_RUNTIME_DIR": home]
        // Another broker does not know which handlers are its own.
        let other = try await brokerctl(["apps", "remove", "mail"], at: broker.path, environment: environment)
        #expect(other.status == .exited(1))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["brokerd-mail.desktop"])
        let removed = try await brokerctl(["apps", "remove", "mail"], environment: environment)
        #expect(removed.status == .exited(1), "\(removed)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
    }

    @Test("the desktop starts the handler with the absolute path of an unusual socket, however it was named")
    func unusualSocket() async throws {
        let broker = try broker(["apps.register": Self.app])
        let home = NSTemporaryDirectory() + "handler-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: home) }
        let entry = home + "/.local/share/applications/brokerd-mail.desktop"
        let folder = URL(filePath: broker.path).deletingLastPathComponent().path
        let name = URL(filePath: broker.path).lastPathComponent
        let add =
            "apps add mail --client-id c --authority https://a.example --redirect-uri msauth.mail://auth --url-handler"
        for start in ["brokerctl --socket \(name)", "BROKER_SOCKET=\(name) brokerctl"] {
            let program = try PackageTree.program("brokerctl")
            let line = "cd \(folder) && \(start.replacing("brokerctl", with: program)) \(add)"
            let added = try await withTestBed { bed in
                try await bed.run(
                    Launch(
                        "/bin/sh", ["-c", line],
                        environment: ["HOME": home, "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": ""]))
            }
            #expect(added.succeeded, "\(added)")
            let text = try String(contentsOfFile: entry, encoding: .utf8)
            #expect(text.contains(#""--socket" "\#(folder)/\#(name)" handle-redirect"#), "\(text)")
        }
    }

    @Test(
        "a handler for a scheme not private to the app is a usage error",
        arguments: [[], ["--redirect-uri", "https://example.org/"]])
    func refused(options: [String]) async throws {
        let result = try await brokerctl(
            ["apps", "add", "mail", "--client-id", "c", "--authority", "https://a.example", "--url-handler"] + options,
            at: "/nowhere")
        #expect(result.status == .exited(2))
    }

    @Test("the redirect comes from the arguments or standard input", arguments: [false, true])
    func handleRedirect(fromInput: Bool) async throws {
        let log = Recorder<String>()
        let broker = try ScriptedBroker { peer in
            guard let request = peer.request() else { return }
            log.add("\(request.method) \(request.string("url") ?? "")")
            peer.answer(request, #"{"accepted":true}"#)
            peer.waitForEnd()
        }
        let url = "msauth.mail://auth?code=1&state=s"
        let result = try await brokerctl(
            ["handle-redirect", fromInput ? "-" : url], at: broker.path, input: fromInput ? url + "\n" : nil)
        #expect(result.status == .exited(0))
        #expect(log.all == ["interaction.complete \(url)"])
    }

    @Test("an unexpected redirect is reported on the desktop without its URL")
    func notExpected() async throws {
        let broker = try ScriptedBroker { peer in
            guard let request = peer.request() else { return }
            peer.fail(request, "invalidParameter", message: "This redirect belongs to no sign-in. <\u{301}b>")
            peer.waitForEnd()
        }
        try await withTestBed { bed in
            let (part, shown) = (bed.path("part"), bed.path("shown"))
            try await bed.install(
                "#!/bin/sh\nprintf '%s\\n' \"$@\" > '\(part)' && mv '\(part)' '\(shown)'\n", as: "notify-send")
            let result = try await bed.run(
                Launch(
                    try PackageTree.program("brokerctl"),
                    ["--socket", broker.path, "handle-redirect", "msauth.mail://auth?code=SECRET"],
                    environment: ["PATH": bed.path("bin") + ":/usr/bin:/bin"]))
            #expect(result.status == .exited(1))
            #expect(result.errors.contains("belongs to no sign-in"))
            try await eventually("the notice is shown") { FileManager.default.fileExists(atPath: shown) }
            let notice = try String(contentsOfFile: shown, encoding: .utf8)
            #expect(notice.contains("This redirect belongs to no sign-in."))
            #expect(
                !notice.unicodeScalars.contains("<") && !notice.unicodeScalars.contains(">"), "markup for the desktop")
            #expect(!notice.contains("SECRET") && !result.errors.contains("SECRET"))
        }
    }
}

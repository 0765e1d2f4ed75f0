import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("Questions at the desktop, with a real notification daemon", .serialized)
struct DesktopTests {
    private func scene(
        in bed: TestBed, policy: (inout TokenPolicy) -> Void = { _ in }
    ) async throws -> (DevelopmentScene, Desktop) {
        let scene = try await DevelopmentScene.signedIn(
            in: bed, policy: policy, options: { $0.configuration = "access.ask_in_browser = false\n" })
        return (scene, try await Desktop.start(in: bed, at: scene.broker, pages: bed.path("page")))
    }

    /// A sandboxed program that waits for an answer.
    private func ask(_ scene: DevelopmentScene) async throws -> ManagedProcess {
        let line =
            #"{"jsonrpc":"2.0","id":1,"method":"token.acquireSilent","params":{"app":"notes","scopes":["notes.read"],"waitForGrant":120}}"#
        let program = try scene.bed.start(SandboxGrantTests.launch(scene.broker, line, answers: 2), as: "sandboxed")
        try await program.waitForText("interaction.grant")
        return program
    }

    @Test("a notification shows the program and its request, and the pressed button is the answer")
    func answered() async throws {
        try await withTestBed { bed in
            let (scene, desktop) = try await scene(in: bed)
            let program = try await ask(scene)
            try await eventually("a notice is shown") { try await desktop.shown() == 1 }
            if let folder = ProcessInfo.processInfo.environment["BROKER_TEST_PICTURES"] {
                try await desktop.picture("\(folder)/grant.png")
            }
            try await desktop.press("Allow for 12 hours")
            try await program.waitForText("accessToken")
            let grant = try #require(try await scene.broker.call("grants.list")[path: "grants"].arrayValue?.first)
            #expect(grant["scopes"] == ["notes.read"])
            let lifetime = (grant["expiresOn"].integerValue ?? 0) - (grant["createdOn"].integerValue ?? 0)
            #expect(lifetime == 12 * 3600, "\(grant)")
            try await eventually("the notice is gone") { try await desktop.shown() == 0 }
            let said = try await desktop.history()
            for words in [
                "A program asks for notes", "A program in a sandbox without a name (container:", "for notes.read",
                "at 127.0.0.1",
                "with every account it has (signed in there: alice)",
            ] {
                #expect(said.contains(words), "\(words): \(said)")
            }
        }
    }

    @Test("a program's name is displayed literally, even with markup or line breaks")
    func foreignNames() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(
                in: bed, options: { $0.configuration = "access.ask_in_browser = false\naccess.unknown = \"ask\"\n" })
            let desktop = try await Desktop.start(in: bed, at: scene.broker, pages: bed.path("page"))
            let program = bed.path(#"mail<b>&amp;\074b\076\012Allow this $HOME ${HOME} %s %25 `id` 'x'"#)
            try FileManager.default.copyItem(atPath: try PackageTree.program("brokerctl"), toPath: program)
            let asked = try await bed.run(
                Launch(program, ["--socket", scene.broker.socket, "token", "--app", "notes", "--scope", "notes.read"]))
            #expect(asked.errors.contains("may not use notes yet"), "\(asked)")
            try await desktop.press("Deny")
            try await eventually("the notice is gone") { try await desktop.shown() == 0 }
            let said = try await desktop.history()
            // With JSON's escape of a backslash.
            let name = #"mailbamp;\\074b\\076\\012Allow this $HOME ${HOME} %s %25 `id` 'x', a program of yours, asks"#
            #expect(said.contains(name), "\(said)")
        }
    }

    @Test("a program learns at once that it was denied at the desktop")
    func denied() async throws {
        try await withTestBed { bed in
            let (scene, desktop) = try await scene(in: bed)
            let program = try await ask(scene)
            try await desktop.press("Deny")
            try await program.waitForText("grantDenied")
        }
    }

    @Test("a question answered elsewhere leaves the screen, and earlier questions are shown at login")
    func elsewhere() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.signedIn(
                in: bed, options: { $0.configuration = "access.ask_in_browser = false\n" })
            let program = try await ask(scene)
            let desktop = try await Desktop.start(in: bed, at: scene.broker, pages: bed.path("page"))
            try await eventually("a notice is shown") { try await desktop.shown() == 1 }
            let request = try #require(
                try await scene.broker.call("grants.list")[path: "requests"].arrayValue?.first?["id"].stringValue)
            #expect(try await scene.broker.ctl(["grants", "approve", request]).succeeded)
            try await program.waitForText("accessToken")
            try await eventually("the notice is gone") { try await desktop.shown() == 0 }
        }
    }

    @Test("a notification that is answered elsewhere while it is being shown does not stay")
    func elsewhereAtOnce() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.signedIn(
                in: bed, options: { $0.configuration = "access.ask_in_browser = false\n" })
            // Like the real one, it shows the notification first, and closes it when interrupted later. (A shell always has a handler.)
            let (said, ready) = (bed.path("said"), bed.path("ready"))
            let program = bed.path("notify-send")
            try """
            #!/usr/bin/perl
            sub note { open(my $said, '>>', '\(said)'); print $said @_; }
            note("shown\\n");
            select(undef, undef, undef, 0.01) until -e '\(ready)';
            $SIG{INT} = sub { note("taken away\\n"); exit; };
            sleep(60) while 1;

            """.write(toFile: program, atomically: true, encoding: .utf8)
            try #require(chmod(program, 0o700) == 0)
            _ = try await Desktop.start(
                in: bed, at: scene.broker, pages: bed.path("page"),
                variables: ["PATH": "\(bed.directory.path):/usr/bin:/bin"])
            let asking = try await ask(scene)
            try await eventually("a notice is shown") { FileManager.default.fileExists(atPath: said) }
            let request = try #require(
                try await scene.broker.call("grants.list")[path: "requests"].arrayValue?.first?["id"].stringValue)
            #expect(try await scene.broker.ctl(["grants", "approve", request]).succeeded)
            try await asking.waitForText("accessToken")
            try Data().write(to: URL(filePath: ready))
            try await eventually("the notice is gone") {
                try String(contentsOfFile: said, encoding: .utf8) == "shown\ntaken away\n"
            }
        }
    }

    @Test("a notification that cannot be shown yet, as right after a login, is shown later")
    func notYet() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.signedIn(
                in: bed, options: { $0.configuration = "access.ask_in_browser = false\n" })
            let (tried, shown) = (bed.path("tried"), bed.path("shown"))
            let program = bed.path("notify-send")
            try """
            #!/bin/sh
            [ -e \(tried) ] || { touch \(tried); exit 1; }
            printf '%s\\n' "$@" > \(shown).new && mv \(shown).new \(shown)

            """.write(toFile: program, atomically: true, encoding: .utf8)
            try #require(chmod(program, 0o700) == 0)
            _ = try await Desktop.start(
                in: bed, at: scene.broker, pages: bed.path("page"),
                variables: ["PATH": "\(bed.directory.path):/usr/bin:/bin"])
            _ = try await ask(scene)
            try await eventually("the notice is tried") { FileManager.default.fileExists(atPath: tried) }
            try await eventually("the notice is shown") { FileManager.default.fileExists(atPath: shown) }
            let words = try String(contentsOfFile: shown, encoding: .utf8).split(separator: "\n")
            #expect(words.contains("--icon=dialog-password"), "\(words)")
            // A button contains the request's name.
            let request = try #require(
                try await scene.broker.call("grants.list")[path: "requests"].arrayValue?.first?["id"].stringValue)
            let buttons = ["Deny", "Allow for 12 hours"].enumerated().map { "--action=\(request)-\($0)=\($1)" }
            #expect(words.filter { $0.hasPrefix("--action=") }.map(String.init) == buttons, "\(words)")
        }
    }

    @Test("a sign-in that the provider ended is shown, and the button signs in again in the browser")
    func signedOut() async throws {
        try await withTestBed { bed in
            let (scene, desktop) = try await scene(in: bed) { $0.accessTokenLifetime = 0 }
            // An event is shown to a session that has subscribed, and is not repeated.
            try await eventually("the session has subscribed") {
                let requests = try await scene.broker.call("broker.metrics")["requests"]?.arrayValue ?? []
                return requests.contains { $0.objectValue?["method"]?.stringValue == "broker.subscribe" }
            }
            scene.provider.add(Fault(.token, .empty400, times: 2))
            await expectRefusal("serverUnavailable", reason: "refreshRefused") { try await scene.silent() }
            await expectRefusal("interactionRequired", reason: "refreshTokenRevoked") { try await scene.silent() }
            try await eventually("a notice is shown") { try await desktop.shown() == 1 }
            if let folder = ProcessInfo.processInfo.environment["BROKER_TEST_PICTURES"] {
                try await desktop.picture("\(folder)/sign-in.png")
            }
            try await desktop.press("Sign in")
            let page = bed.path("page")
            try await eventually("the browser is given the page") { FileManager.default.fileExists(atPath: page) }
            let browser = try await HeadlessBrowser.start(in: bed)
            let answer = try await scene.provider.signIn(
                .alice, at: try String(contentsOfFile: page, encoding: .utf8), in: bed)
            try await browser.open(answer.url)
            try await eventually("a silent request gets a token again") {
                (try? await scene.silent()["accessToken"]) != nil
            }
        }
    }

    @Test("notifications are shown again after a restart of the notification service, and count")
    func newService() async throws {
        try await withTestBed { bed in
            let (scene, desktop) = try await scene(in: bed)
            let program = try await ask(scene)
            try await eventually("a notice is shown") { try await desktop.shown() == 1 }
            try await desktop.restartService()
            try await eventually("the notice is shown again") { try await desktop.shown() == 1 }
            try await desktop.press("Allow for 12 hours")
            try await program.waitForText("accessToken")
        }
    }

    @Test("without a notification service the session reports that once, and asks when there is one")
    func noService() async throws {
        try await withTestBed { bed in
            let (scene, desktop) = try await scene(in: bed)
            await desktop.stopService()
            let program = try await ask(scene)
            try await eventually("the session says so") {
                desktop.session.errorText.contains("no program that shows notifications runs in this session")
            }
            try await desktop.startService()
            try await eventually("a notice is shown") { try await desktop.shown() == 1 }
            #expect(desktop.session.errorText.components(separatedBy: "Questions cannot be shown here").count == 2)
            // The session shows the notice anew when it finds the service; a button may be pressed in between.
            try await eventually("the answer is taken") {
                try await desktop.pressNow("Deny")
                return program.outputText.contains("grantDenied")
            }
        }
    }

    @Test("the active one of a person's two sessions asks, and the other after a switch")
    func twoSessions() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.signedIn(
                in: bed, options: { $0.configuration = "access.ask_in_browser = false\n" })
            let login = try await LoginBus.start(in: bed, sessions: ["c1", "c2"])
            let ids = ["c1", "c2"]
            try await login.bringToFront("c2", of: ids)
            var desktops: [Desktop] = []
            for id in ids {
                desktops.append(
                    try await Desktop.start(
                        in: bed, at: scene.broker, pages: bed.path("page"),
                        variables: ["XDG_SESSION_ID": id, "DBUS_SYSTEM_BUS_ADDRESS": login.address]))
            }
            let program = try await ask(scene)
            try await eventually("the session in front shows it") { try await desktops[1].shown() == 1 }
            #expect(try await desktops[0].shown() == 0)
            try await login.bringToFront("c1", of: ids)
            try await eventually("the other session shows it") { try await desktops[0].shown() == 1 }
            #expect(try await desktops[1].shown() == 0)
            try await desktops[0].press("Allow for 12 hours")
            try await program.waitForText("accessToken")
            try await eventually("no notice is left") {
                let shown = (try await desktops[0].shown(), try await desktops[1].shown())
                return shown == (0, 0)
            }
        }
    }

    @Test("if the session that asked ends, the other one asks")
    func lastSession() async throws {
        try await withTestBed { bed in
            let (scene, first) = try await scene(in: bed)
            let second = try await Desktop.start(
                in: bed, at: scene.broker, pages: bed.path("page"), variables: ["XDG_SESSION_ID": "none"])
            let program = try await ask(scene)
            try await eventually("a notice is shown") { try await first.shown() + second.shown() == 1 }
            let (asking, other) = try await first.shown() == 1 ? (first, second) : (second, first)
            asking.session.send(SIGTERM)
            #expect(await asking.session.exitStatus() == .exited(0))
            try await other.press("Deny")
            try await program.waitForText("grantDenied")
        }
    }

    @Test("a second program in the same session ends at once")
    func second() async throws {
        try await withTestBed { bed in
            let (scene, desktop) = try await scene(in: bed)
            try await eventually("the first one follows the broker") {
                let callers = try await scene.broker.call("broker.callers")[path: "callers"].arrayValue ?? []
                return callers.contains { $0["id"].stringValue?.hasSuffix("/brokerctl") == true }
            }
            let other = try await bed.run(
                Launch(
                    try PackageTree.program("brokerctl"), ["--socket", scene.broker.socket, "session"],
                    environment: ["XDG_RUNTIME_DIR": bed.directory.path]))
            #expect(other.succeeded && other.errors.contains("Another one is already running"), "\(other)")
            try desktop.session.requireRunning()
        }
    }
}

@Suite("The sign-in page at a desktop with a portal", .serialized) struct PortalTests {
    /// A desktop whose default browser records its arguments, and an `xdg-open` that does so elsewhere.
    static func environment(in bed: TestBed) async throws -> [String: String] {
        let screen = try bed.start(
            Launch("Xvfb", ["-displayfd", "1", "-screen", "0", "900x500x24", "-nolisten", "tcp"]))
        // If another screen exists, its attempts are on the other output stream.
        try await eventually("the screen has a number") { screen.outputText.contains("\n") }
        let (data, settings) = (try bed.makeDirectory("data"), try bed.makeDirectory("settings"))
        func write(_ name: String) -> String {
            "echo \"$1\" > \(bed.path(name)).new; mv \(bed.path(name)).new \(bed.path(name))"
        }
        try FileManager.default.createDirectory(atPath: data + "/applications", withIntermediateDirectories: true)
        try """
        [Desktop Entry]
        Type=Application
        Name=A browser
        Exec=\(bed.path("browser")) %u
        MimeType=x-scheme-handler/http;x-scheme-handler/https;

        """.write(toFile: data + "/applications/a.desktop", atomically: true, encoding: .utf8)
        try "[Default Applications]\nx-scheme-handler/http=a.desktop\nx-scheme-handler/https=a.desktop\n"
            .write(toFile: settings + "/mimeapps.list", atomically: true, encoding: .utf8)
        let programs = try bed.makeDirectory("bin")
        for (path, page) in [(bed.path("browser"), "page"), (programs + "/xdg-open", "page-of-xdg-open")] {
            try "#!/bin/sh\n\(write(page))\n".write(toFile: path, atomically: true, encoding: .utf8)
            try #require(chmod(path, 0o700) == 0)
        }
        return [
            "DISPLAY": ":" + screen.outputText.trimmingCharacters(in: .whitespacesAndNewlines),
            "HOME": bed.directory.path, "XDG_RUNTIME_DIR": try bed.makeDirectory("runtime"), "XDG_DATA_HOME": data,
            "XDG_CONFIG_HOME": settings, "XDG_CURRENT_DESKTOP": "GNOME", "PATH": programs + ":/usr/bin:/bin",
        ]
    }

    @Test("the portal opens the default browser, without one xdg-open does", arguments: [true, false])
    func opens(hasPortal: Bool) async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            var environment = try await Self.environment(in: bed)
            let login = [
                try PackageTree.program("brokerctl"), "--socket", scene.broker.socket, "login", "--app", "notes",
                "--scope", DevelopmentScene.scope,
            ]
            let shell: ManagedProcess
            if hasPortal {
                // The bus starts the portal, and this its part for GTK, as on a person's desktop.
                shell = try bed.start(
                    Launch("dbus-run-session", ["--"] + login, environment: environment), as: "login")
            } else {
                environment["DBUS_SESSION_BUS_ADDRESS"] = try await SessionBus.start(in: bed)
                shell = try bed.start(
                    Launch(login[0], Array(login.dropFirst()), environment: environment), as: "login")
            }
            let page = bed.path(hasPortal ? "page" : "page-of-xdg-open")
            let url = try await awaited("a browser is given the page") {
                try shell.requireRunning()
                return try? String(contentsOfFile: page, encoding: .utf8).trimmingCharacters(in: .newlines)
            }
            #expect(!FileManager.default.fileExists(atPath: bed.path(hasPortal ? "page-of-xdg-open" : "page")))
            let redirect = try await scene.provider.signIn(.alice, at: url, in: bed)
            _ = try await HTTPSession(in: bed).get(redirect.url)
            #expect(await shell.exitStatus() == .exited(0), "\(shell.logTail)")
        }
    }
}

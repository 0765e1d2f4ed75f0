import BrokerTestSupport
import Foundation
import Testing

@Suite(
    "brokerctl and the sample apps with a real broker and provider",
    .enabled(if: Prerequisite.glewlwyd.shouldRun, "\(Prerequisite.glewlwyd.missing ?? "")"))
struct EndToEndTests {
    private struct Scene {
        let provider: GlewlwydProvider
        let broker: BrokerProcess
        let bed: TestBed

        static func make(in bed: TestBed) async throws -> Scene {
            let redirectURI = "http://127.0.0.1:\(try FreePort.next())/cb"
            let provider = try await GlewlwydProvider.start(in: bed, redirectURIs: [redirectURI])
            let scene = Scene(provider: provider, broker: try await BrokerProcess.start(in: bed), bed: bed)
            for (name, group) in [("profile", "office"), ("mail", "office"), ("stranger", "elsewhere")] {
                let added = try await scene.broker.ctl([
                    "apps", "add", name, "--group", group, "--client-id", provider.clientID, "--authority",
                    provider.authority, "--redirect-uri", redirectURI, "--scope", "api",
                ])
                #expect(added.succeeded, "\(added)")
            }
            return scene
        }

        func app(_ program: String, _ arguments: String...) async throws -> CommandResult {
            try await bed.run(Launch(try PackageTree.program(program), ["--socket", broker.socket] + arguments))
        }

        /// The page's address, once the process has printed it.
        func page(of process: ManagedProcess) async throws -> String {
            try await process.waitForText("/auth?")
            return try #require(process.outputText.split(separator: "\n").first.map(String.init))
        }
    }

    @Test("one sign-in with brokerctl serves every app of the group but no other")
    func signInOnce() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed)
            let broker = scene.broker
            #expect(try await broker.ctl(["token", "--app", "profile"]).status == .exited(4))

            let login = try broker.startCtl(["login", "--app", "profile", "--no-browser"])
            let redirect = try await scene.provider.signIn(.alice, at: try await scene.page(of: login))
            _ = try await HTTPSession(in: bed).get(redirect.url)
            #expect(await login.exitStatus() == .exited(0))
            #expect(login.outputText.contains("Signed in: "))

            let first = try await broker.ctl(["token", "--app", "profile"])
            #expect(first.succeeded && first.output.count > 20, "\(first)")
            let second = try await broker.ctl(["token", "--app", "mail", "--format", "header"])
            #expect(second.output.hasPrefix("Authorization: Bearer "))
            #expect(try await broker.ctl(["token", "--app", "stranger"]).status == .exited(4))
            let renewed = try await broker.ctl(["token", "--app", "profile", "--account", "ALICE", "--force-refresh"])
            #expect(renewed.succeeded && renewed.output != first.output, "\(renewed)")

            let accounts = try await broker.ctl(["accounts", "list"])
            #expect(accounts.lines.count == 2 && accounts.lines.last?.hasPrefix("alice ") == true, "\(accounts)")
            let removed = try await broker.ctl(["accounts", "remove", "alice", "--app", "profile"])
            #expect(removed.succeeded, "\(removed)")
            #expect(try await broker.ctl(["token", "--app", "profile"]).status == .exited(4))
            #expect(try await broker.ctl(["token", "--app", "mail"]).status == .exited(0))
        }
    }

    @Test("the printed page leads to the same sign-in if no browser can be started")
    func noBrowser() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed)
            let login = try scene.broker.startCtl(
                ["login", "--app", "profile"], environment: ["BROWSER": "/nonexistent", "PATH": "/nonexistent"])
            let redirect = try await scene.provider.signIn(.alice, at: try await scene.page(of: login))
            _ = try await HTTPSession(in: bed).get(redirect.url)
            #expect(await login.exitStatus() == .exited(0), "\(login.logTail)")
        }
    }

    @Test("a pasted redirect finishes a sign-in over ssh")
    func manual() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed)
            let login = try scene.broker.startCtl(["login", "--app", "profile", "--manual"])
            let redirect = try await scene.provider.signIn(.alice, at: try await scene.page(of: login))
            try login.write("http://127.0.0.1:1/?code=x&state=y\n")
            // It says why, and asks again.
            try await eventually("the wrong address is refused") { login.errorText.split(separator: "\n").count > 2 }
            try login.write(redirect.url + "\n")
            #expect(await login.exitStatus() == .exited(0))
            #expect(try await scene.broker.ctl(["token", "--app", "profile"]).succeeded)
        }
    }

    @Test("Ctrl-C frees the redirect's port for the next sign-in")
    func interrupted() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed)
            let given = try scene.broker.startCtl(["login", "--app", "profile", "--no-browser"])
            _ = try await scene.page(of: given)
            given.send(SIGINT)
            #expect(await given.exitStatus() == .exited(130))
            let login = try scene.broker.startCtl(["login", "--app", "profile", "--no-browser"])
            let redirect = try await scene.provider.signIn(.alice, at: try await scene.page(of: login))
            _ = try await HTTPSession(in: bed).get(redirect.url)
            #expect(await login.exitStatus() == .exited(0))
        }
    }

    @Test("the sample apps share one sign-in, show its account's data and sign out separately")
    func sampleApps() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed)
            let silent = try await scene.app("profile-app", "--app", "profile", "--scope", "api", "--silent")
            #expect(silent.status == .exited(1))
            #expect(silent.errors.contains("interactionRequired"))

            let page = bed.path("page")
            let profile = try bed.start(
                Launch(
                    try PackageTree.program("profile-app"),
                    ["--socket", scene.broker.socket, "--app", "profile", "--scope", "api"],
                    environment: ["BROWSER": "sh -c 'printf %%s \"$0\" > \(page).new; mv \(page).new \(page)'"]))
            try await eventually("the browser is opened") { FileManager.default.fileExists(atPath: page) }
            let url = try String(contentsOfFile: page, encoding: .utf8)
            _ = try await HTTPSession(in: bed).get(try await scene.provider.signIn(.alice, at: url).url)
            #expect(await profile.exitStatus() == .exited(0), "\(profile.logTail)")
            #expect(profile.outputText.hasPrefix("You are "))
            #expect(profile.outputText.contains("The token is new."))

            let again = try await scene.app("profile-app", "--app", "profile", "--scope", "api", "--silent")
            #expect(again.output.contains("The token came from the broker's cache."), "\(again)")
            let mail = try await scene.app("mail-app", "--app", "mail", "--scope", "api", "--silent")
            #expect(mail.output.hasPrefix("Ready to read the mail of "), "\(mail)")

            let out = try await scene.app("profile-app", "--app", "profile", "--sign-out")
            #expect(out.output == "alice is signed out of this app.\n")
            #expect(
                try await scene.app("profile-app", "--app", "profile", "--scope", "api", "--silent").status
                    == .exited(1))
            #expect(try await scene.app("mail-app", "--app", "mail", "--scope", "api", "--silent").succeeded)
        }
    }

    @Test("status decodes a real broker's answer")
    func status() async throws {
        try await withTestBed { bed in
            let broker = try await BrokerProcess.start(in: bed)
            let result = try await broker.ctl(["status"])
            #expect(result.lines.first?.contains("protocol 1, user mode") == true, "\(result)")
            #expect(result.output.contains(broker.socket))
        }
    }
}

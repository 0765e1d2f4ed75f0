import BrokerTestSupport
import DevIdentityProvider
import Foundation
import Testing

/// docs/picture.svg, which README.md shows: a session with the real programs.
@Suite("The picture of the README") struct PictureTests {
    private static let file = PackageTree.root.appending(path: "docs/picture.svg")
    private static let title =
        "A terminal: one app signs in with the browser, another of its group gets a token without, a third gets none."

    @Test("the picture shows today's output (UPDATE_DOCS=1 swift test --filter PictureTests draws it)")
    func isCurrent() async throws {
        try await withTestBed { bed in
            let scene = try await Session(in: bed)
            var picture = TerminalPicture()
            func run(_ command: String..., status: Int32 = 0) async throws {
                picture.type(command)
                picture.show(try await scene.run(command.joined(separator: " "), status: status))
            }
            let at = "--client-id demo-one --authority https://sso.example.org"
            try await run("brokerctl apps add notes --group office --scope notes.read \\", at)
            try await run("brokerctl login --app notes")
            try await run("brokerctl token --app notes --show")
            try await run("brokerctl apps add calendar --group office --scope notes.read \\", at)
            try await run("brokerctl token --app calendar --format header | cut -c1-40")
            try await run("brokerctl apps add stranger --scope notes.read \\", at)
            try await run("brokerctl token --app stranger", status: 4)
            try await run("brokerctl logout --app notes")
            let svg = picture.svg(title: Self.title)
            if ProcessInfo.processInfo.environment["UPDATE_DOCS"] != nil {
                try svg.write(to: Self.file, atomically: true, encoding: .utf8)
            }
            #expect(try String(contentsOf: Self.file, encoding: .utf8) == svg)
        }
    }

    /// A shell with brokerctl and a browser, whose provider is displayed with a name of its length.
    private struct Session {
        private let scene: DevelopmentScene
        private let bed: TestBed
        private var provider: String { scene.provider.issuer }

        init(in bed: TestBed) async throws {
            self.bed = bed
            // An hour, to the nearest minute, even if the machine is slow.
            let provider = try await DevelopmentScene.startProvider(in: bed) { $0.accessTokenLifetime = 3_625 }
            scene = DevelopmentScene(
                provider: provider, broker: try await BrokerProcess.start(in: bed), bed: bed)
        }

        func run(_ command: String, status: Int32) async throws -> String {
            let program = try PackageTree.program("brokerctl")
            let script = command.replacing("\\ ", with: "").replacing("https://sso.example.org", with: provider)
            // The browser is a file to which the page's URL is written.
            let page = bed.path("page-\(UUID().uuidString)")
            let browser = bed.path("browser")
            try "#!/bin/sh\necho \"$1\" > '\(page)'\n".write(toFile: browser, atomically: true, encoding: .utf8)
            try #require(chmod(browser, 0o700) == 0)
            let shell = try bed.start(
                Launch(
                    "/bin/sh", ["-c", script],
                    environment: [
                        "BROKER_SOCKET": scene.broker.socket, "BROWSER": browser,
                        "PATH": URL(filePath: program).deletingLastPathComponent().path + ":/usr/bin:/bin",
                    ]), as: "shell")
            if command == "brokerctl login --app notes" {
                let url = try await awaited("the browser is started") {
                    let text = (try? String(contentsOfFile: page, encoding: .utf8)) ?? ""
                    return text.hasSuffix("\n") ? text.trimmingCharacters(in: .newlines) : nil
                }
                let redirect = try await scene.provider.signIn(.alice, at: url, in: bed)
                _ = try await HTTPSession(in: bed).get(redirect.url)
            }
            #expect(await shell.exitStatus() == .exited(status), "\(shell.logTail)")
            // The text during the wait comes before the result.
            return shown(shell.errorText + shell.outputText)
        }

        /// Replaces values that differ from run to run with ones of the same kind and length.
        private func shown(_ text: String) -> String {
            text.trimmingCharacters(in: .newlines)
                .replacing(provider, with: "https://sso.example.org")
                .replacing(provider.replacing("http://", with: ""), with: "sso.example.org")
                .replacing(/sso\.example\.org\/authorize\S+/, with: "sso.example.org/authorize?client_id=demo-one&...")
                .replacing(/Bearer [A-Za-z0-9_-]+/, with: "Bearer e2kn02B1N6qtZSEFUb_Jo")
                .replacing(/[0-9a-f]{40}/, with: "7a9777d8bc7e811586497abc61d6465b024765db")
                .replacing(/\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?( [A-Z]+)?/, with: "2026-12-01 10:00:00")
        }
    }
}

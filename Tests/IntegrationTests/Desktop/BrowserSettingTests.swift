import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("Signing in at the desktop with the configured browser", .serialized)
struct BrowserSettingTests {
    /// A broker whose tokens expire at once, and whose browser writes the page's URL to a file.
    private func scene(_ page: String, in bed: TestBed) async throws -> DevelopmentScene {
        try await DevelopmentScene.signedIn(
            in: bed, policy: { $0.accessTokenLifetime = 0 },
            options: {
                $0.configuration = """
                    access.ask_in_browser = false
                    browser.command = ["/bin/sh", "-c", 'printf %%s "$1" > "$0.new" && mv "$0.new" "$0"', "\(page)", "%u"]

                    """
            })
    }

    /// The provider ends a sign-in, and the person presses the button.
    private func signIn(_ person: String, _ scene: DevelopmentScene, _ desktop: Desktop, page: String) async throws {
        scene.provider.add(Fault(.token, .empty400, times: 2))
        let who: JSONObject = ["account": ["username": .string(person)]]
        await expectRefusal("serverUnavailable", reason: "refreshRefused") { try await scene.silent(who) }
        await expectRefusal("interactionRequired", reason: "refreshTokenRevoked") { try await scene.silent(who) }
        try await desktop.press("Sign in")
        try await eventually("a browser is given the page") { FileManager.default.fileExists(atPath: page) }
    }

    @Test("the configured browser opens the page")
    func configured() async throws {
        try await withTestBed { bed in
            let page = bed.path("configured page")
            let scene = try await scene(page, in: bed)
            let desktop = try await Desktop.start(in: bed, at: scene.broker, pages: bed.path("page"))
            try await signIn("alice", scene, desktop, page: page)
            #expect(try String(contentsOfFile: page, encoding: .utf8).hasPrefix("http://127.0.0.1:"))
            #expect(!FileManager.default.fileExists(atPath: bed.path("page")))
        }
    }

    @Test(
        "a mistake in an app file has no effect, one in the settings selects the desktop's browser"
    )
    func mistakes() async throws {
        try await withTestBed { bed in
            let page = bed.path("configured page")
            let scene = try await scene(page, in: bed)
            try await scene.signIn(.bob)
            let desktop = try await Desktop.start(in: bed, at: scene.broker, pages: bed.path("page"))
            let settings = try #require(scene.broker.configurationFile)
            let apps = (settings as NSString).deletingLastPathComponent + "/apps.d"
            try FileManager.default.createDirectory(atPath: apps, withIntermediateDirectories: true)
            try "[mail]\nclient = 1\n".write(toFile: apps + "/mail.toml", atomically: true, encoding: .utf8)
            try await signIn("alice", scene, desktop, page: page)
            try "browser.command = 7\n".write(toFile: settings, atomically: true, encoding: .utf8)
            try await signIn("bob", scene, desktop, page: bed.path("page"))
            let said = desktop.session.errorText
            #expect(said.contains("browser.command cannot be read") && said.contains(":1: "), "\(said)")
        }
    }
}

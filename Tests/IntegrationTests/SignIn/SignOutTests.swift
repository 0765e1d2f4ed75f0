import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("Signing out, with a real broker", .serialized) struct SignOutTests {
    private func signOut(
        _ scene: DevelopmentScene, _ more: JSONObject = [:],
        visit: @escaping @Sendable (String) async throws -> Void = { _ in }
    ) async throws -> JSONObject {
        let connection = try await scene.broker.connect()
        let person = Task {
            while let message = await connection.nextNotification() {
                guard message["method"] == "interaction.open" else { continue }
                try await visit(message["params"]?.objectValue?["url"]?.stringValue ?? "")
            }
        }
        defer { person.cancel() }
        let params: JSONObject = ["app": "notes", "account": ["username": "alice"]]
        let answer = try await connection.call("accounts.signOut", params.merging(more) { $1 })
        await connection.close()
        return answer
    }

    @Test(
        "a plain sign-out removes the app's tokens, and the next sign-in asks for the password"
    )
    func local() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.signedIn(in: bed)
            let stages = try await signOut(scene)
            #expect(stages.text("stages.local") == "done")
            for stage in ["wipe", "revocation", "browser"] { #expect(stages.text("stages.\(stage)") == "skipped") }
            await expectRefusal("interactionRequired", reason: "signedOut") { try await scene.silent() }
            let current = try await scene.broker.call("accounts.current", ["app": "notes"])
            #expect(current["current"] == nil)
            #expect(current.text("previous.username") == "alice")
            let again = try await scene.signIn()
            #expect(again.opening.text("url").contains("prompt=login"))
        }
    }

    @Test(
        "with revoke the refresh token is invalid at the provider, and a failure is only reported")
    func revocation() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.signedIn(in: bed)
            #expect(try await signOut(scene, ["revoke": true]).text("stages.revocation") == "done")
            #expect(scene.provider.log.count { $0.endpoint == .revoke } == 1)
            try await scene.signIn()
            await scene.provider.stop()
            let offline = try await signOut(scene, ["revoke": true])
            #expect(offline.text("stages.revocation").hasPrefix("failed: "))
            #expect(offline.text("stages.local") == "done")
        }
    }

    @Test("from the browser: the provider's page ends its session and the browser returns")
    func browser() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.signedIn(in: bed)
            let page = HTTPSession(in: bed)
            let stages = try await signOut(scene, ["fromBrowser": true]) { url in
                #expect(url.contains("id_token_hint=") && url.contains("post_logout_redirect_uri="))
                var next = url
                for _ in 0..<5 {
                    let reply = try await page.get(next)
                    guard let location = reply.header("location") else { return }
                    next = location
                }
            }
            #expect(stages.text("stages.browser") == "done", "\(stages)")
        }
    }
}

import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("An app's registered parameters, at each front")
struct RegisteredResourceTests {
    private static let resource = "https://api.example/notes"

    /// A provider whose access tokens contain their audience, and the app `notes`, which is for one such audience.
    private func scene(in bed: TestBed) async throws -> DevelopmentScene {
        let provider = try await DevIdentityProvider.start(in: bed) {
            $0.accessTokenFormat = .jwt
            $0.policy.devicePollInterval = 1
        }
        let scene = DevelopmentScene(provider: provider, broker: try await BrokerProcess.start(in: bed), bed: bed)
        try await scene.register(
            "notes",
            [
                "scopes": [.string(DevelopmentScene.scope)], "resources": [.string(Self.resource)],
                "query": ["access_type": "offline"],
            ])
        return scene
    }

    private func audience(of token: String) throws -> String? {
        let parts = token.split(separator: ".")
        try #require(parts.count == 3, "\(token)")
        let payload = try #require(bytesOfAnyBase64(String(parts[1])))
        return JSONObject(json: payload)?.text("aud")
    }

    @Test("git, kubectl, token files and brokerctl get tokens for the app's resource, cached and refreshed")
    func fronts() async throws {
        try await withTestBed { bed in
            let scene = try await scene(in: bed)
            let hint = try await scene.broker.ctl(["token", "--app", "notes"])
            #expect(hint.errors.contains("login --app notes"), "\(hint)")
            try await scene.signIn()
            for more in [[], ["--force-refresh"]] {
                let printed = try await scene.broker.ctl(["token", "--app", "notes"] + more)
                #expect(
                    try audience(of: printed.output.trimmingCharacters(in: .whitespacesAndNewlines)) == Self.resource)
            }
            let git = try await scene.broker.ctl(
                ["git-credential", "--app", "notes", "get"], input: "protocol=https\nhost=git.example.org\n\n")
            let password = git.output.split(separator: "\n").first { $0.hasPrefix("password=") }
            #expect(try audience(of: String(password?.dropFirst(9) ?? "")) == Self.resource, "\(git)")
            let kube = try await scene.broker.ctl(["kube-credential", "--app", "notes", "--token", "access"])
            let credential = try #require(JSONObject(json: kube.output.utf8), "\(kube)")
            #expect(try audience(of: credential.text("status.token")) == Self.resource)
            let path = try bed.makeDirectory("tokens") + "/token"
            let keeper = try scene.broker.startCtl(["token-file", "--app", "notes", path])
            try await keeper.waitForText("Keeping a token of notes")
            #expect(try audience(of: try String(contentsOfFile: path, encoding: .utf8)) == Self.resource)
        }
    }

    @Test("a sign-in's page is requested with the registered parameters")
    func page() async throws {
        try await withTestBed { bed in
            let scene = try await scene(in: bed)
            let login = try scene.broker.startCtl(["login", "--app", "notes", "--no-browser"])
            try await login.waitForText("/authorize?")
            let url = login.logTail.split(whereSeparator: \.isWhitespace).first { $0.contains("/authorize?") }
            let asked = query(of: String(url ?? ""))
            #expect(asked["resource"] == Self.resource && asked["access_type"] == "offline")
        }
    }

    @Test("an app's own scopes may include those that the broker adds by itself")
    func reservedScopes() async throws {
        try await withTestBed { bed in
            let scene = try await scene(in: bed)
            let scopes = ["openid", DevelopmentScene.scope, "offline_access"].flatMap { ["--scope", $0] }
            let edited = try await scene.broker.ctl(["apps", "edit", "notes"] + scopes)
            try #require(edited.succeeded, "\(edited)")
            _ = try await scene.signIn()
            let token = try await scene.broker.ctl(["token", "--app", "notes"])
            #expect(token.succeeded, "\(token)")
        }
    }

    @Test("a token by device code is for the app's resource, and so is the next one")
    func deviceCode() async throws {
        try await withTestBed { bed in
            let scene = try await scene(in: bed)
            let connection = try await scene.broker.connect()
            let provider = scene.provider
            let decision = Task {
                while let message = await connection.nextNotification() {
                    guard message["method"] == "interaction.deviceCode" else { continue }
                    provider.decideDevice(message.text("params.userCode"), approvedBy: "alice")
                    return
                }
            }
            let params = DevelopmentScene.notes
            let token = try await connection.call("token.acquireByDeviceCode", params)
            await decision.value
            #expect(try audience(of: token.text("accessToken")) == Self.resource)
            let next = try await scene.silent(["forceRefresh": true])
            #expect(try audience(of: next.text("accessToken")) == Self.resource)
        }
    }
}

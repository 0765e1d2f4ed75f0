import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("Reloading the configuration", .serialized) struct ReloadTests {
    /// Rewrites the broker's file and waits until the broker reports the result.
    private func reload(_ broker: BrokerProcess, _ text: String, until said: String) async throws {
        let file = try #require(broker.configurationFile)
        let before = broker.process.errorText.count
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        broker.process.send(SIGHUP)
        try await eventually("the broker says: \(said)") {
            broker.process.errorText.dropFirst(before).contains(said)
        }
    }

    private static let done = "configuration reloaded"

    /// The URL that a new sign-in opens; the sign-in is canceled.
    private func openedURL(_ connection: WireConnection, _ more: JSONObject = [:]) async throws -> String {
        let params = DevelopmentScene.notes
        let call = Task { try await connection.call("token.acquireInteractive", params.merging(more) { $1 }) }
        let opening = try #require(await connection.nextNotification())
        _ = try await connection.call(
            "interaction.cancel", ["interactionId": opening[path: "params.interactionId"]])
        await expectRefusal("userCanceled") { try await call.value }
        return opening.text("params.url")
    }

    @Test("a provider's table applies to the next request, and connections, sign-ins and tokens remain")
    func table() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed, options: { $0.configuration = "" })
            let (broker, provider) = (scene.broker, scene.provider)
            let token = try await scene.signIn().accessToken
            let connection = try await broker.connect()
            let resource: JSONObject = ["resource": "https://api.example/notes"]
            #expect(query(of: try await openedURL(connection, resource))["resource"] == "https://api.example/notes")

            // One sign-in is open when the table is added.
            let open = try await broker.connect()
            let waiting = Task {
                try await open.call(
                    "token.acquireInteractive",
                    ["app": "notes", "scopes": [.string(DevelopmentScene.scope)], "prompt": "login"])
            }
            let opening = try #require(await open.nextNotification())
            let table = """
                [provider."\(provider.issuer)"]
                resource_parameter = "audience"
                authorization_endpoint = "\(provider.origin)/elsewhere"

                """
            try await reload(broker, table, until: Self.done)
            let url = try await openedURL(connection, resource)
            #expect(url.hasPrefix("\(provider.origin)/elsewhere?"))
            #expect(query(of: url)["audience"] == "https://api.example/notes" && query(of: url)["resource"] == nil)
            let silent = try await connection.call(
                "token.acquireSilent", DevelopmentScene.notes)
            #expect(silent.text("accessToken") == token)

            let redirect = try await provider.signIn(.alice, at: opening.text("params.url"), in: bed)
            _ = try await HTTPSession(in: bed).get(redirect.url)
            #expect(try await !waiting.value.text("accessToken").isEmpty)

            // A mistake is reported with its place, and the previous settings remain.
            let mistake = table + "\n[socket]\nmax_connections = 0\n"
            try await reload(broker, mistake, until: "the configuration was not reloaded")
            let file = try #require(broker.configurationFile)
            #expect(broker.process.errorText.contains("\(file):6: socket.max_connections"))
            #expect(try await openedURL(connection).hasPrefix("\(provider.origin)/elsewhere?"))
            let wrongTable = table.replacing("\"audience\"", with: "\"aud\"")
            try await reload(broker, wrongTable, until: "\(file):2: resource_parameter")
            #expect(query(of: try await openedURL(connection, resource))["audience"] != nil)

            try await reload(broker, "", until: Self.done)
            let after = try await openedURL(connection, resource)
            #expect(!after.hasPrefix("\(provider.origin)/elsewhere?") && query(of: after)["resource"] != nil)
            let refreshed = try await scene.silent(["forceRefresh": true])
            #expect(refreshed[path: "fromCache"] == false)
        }
    }

    @Test(
        "an app registered before its host had a kind follows it, and tokens outlive both changes")
    func kind() async throws {
        try await withTestBed { bed in
            let provider = try await DevIdentityProvider.start(.entra(), in: bed)
            let broker = try await BrokerProcess.start(in: bed) { $0.configuration = "" }
            try await broker.register("notes", clientID: "demo-one", authority: provider.authority("common"))
            let table = "[provider.\"\(provider.origin)\"]\nkind = \"entra\"\n"
            try await reload(broker, table, until: Self.done)
            let signIn = try await broker.signIn(app: "notes", scopes: ["notes.read"], in: bed) {
                try await provider.signIn(.alice, at: $0, in: bed)
            }
            #expect(signIn.token.text("account.tenantId") == EntraDirectory.alpha.id)

            func silent() async throws -> JSONObject {
                try await broker.acquireSilent(app: "notes", scopes: ["notes.read"])
            }
            try await reload(broker, "", until: Self.done)
            await expectRefusal("interactionRequired") { try await silent() }
            try await reload(broker, table, until: Self.done)
            #expect(try await silent().text("accessToken") == signIn.accessToken)
        }
    }

    @Test("a reload changes the browser's command, and the log names a setting that needs a restart")
    func browser() async throws {
        try await withTestBed { bed in
            func configuration(_ name: String) -> String {
                """
                [browser]
                command = ["/bin/sh", "-c", "echo \\"$0\\" > '\(bed.path(name))'", "%u"]
                """
            }
            let scene = try await DevelopmentScene.make(in: bed, options: { $0.configuration = configuration("first") })
            let broker = scene.broker
            func opens(_ name: String) async throws {
                let connection = try await broker.connect()
                let call = Task {
                    try await connection.call(
                        "token.acquireInteractive",
                        [
                            "app": "notes", "scopes": [.string(DevelopmentScene.scope)], "presentation": "broker",
                            "loginHint": .string(name),
                        ])
                }
                try await eventually("\(name) opens the page") {
                    (try? String(contentsOfFile: bed.path(name), encoding: .utf8))?.hasPrefix("http") ?? false
                }
                await connection.close()
                await #expect(throws: ConnectionEnded.self) { try await call.value }
            }
            try await opens("first")
            let changed = configuration("second") + "\n[socket]\nmax_connections = 5\n"
            try await reload(
                broker, changed, until: "the setting socket.max_connections takes effect after a restart only")
            #expect(broker.process.errorText.contains("socket.max_connections"))
            try await opens("second")
        }
    }
}

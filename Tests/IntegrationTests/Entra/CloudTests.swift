import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("Several clouds", .serialized) struct CloudTests {
    private static let aware: JSONObject = ["instanceAware": true]

    /// Bob signs in at the app's own cloud, which sends him to his own; `change` modifies the redirect.
    private func signInBob(
        _ scene: EntraScene, _ more: JSONObject = aware, change: @escaping @Sendable (String) -> String = { $0 }
    ) async throws -> SignIn {
        let (own, bed) = (scene.provider, scene.bed)
        let other = try #require(scene.otherCloud)
        return try await scene.broker.signIn(app: "notes", scopes: [EntraScene.scope], more, in: bed) { url in
            let onward = try await own.signIn(.bob, at: url, in: bed)
            var redirect = try await other.signIn(.bob, at: onward.url, in: bed)
            redirect.url = change(redirect.url)
            return redirect
        }
    }

    @Test("a person of another cloud signs in there, and code, tokens and account belong to that cloud")
    func otherCloud() async throws {
        try await withTestBed { bed in
            let scene = try await EntraScene.withTwoClouds(in: bed)
            let other = try #require(scene.otherCloud)
            let signIn = try await signInBob(scene)
            #expect(signIn.token.text("account.username") == "bob@\(EntraDirectory.beta.domain)")
            #expect(signIn.token.text("account.environment") == "127.0.0.1:\(other.port)")
            #expect(signIn.token.text("authority") == other.authority(EntraDirectory.beta.id))
            #expect(query(of: signIn.opening.text("url"))["instance_aware"] == "true")
            // The code was sent to no other server.
            #expect(!scene.provider.log.contains { $0.endpoint == .token })
            #expect(other.log.count { $0.endpoint == .token } == 1)
            let accounts = try await scene.accounts()
            #expect(accounts.map { $0.text("authority") } == [other.authority(EntraDirectory.beta.id)])
        }
    }

    @Test(
        "later tokens come silently at the app's authority, refreshed at the account's cloud")
    func silently() async throws {
        try await withTestBed { bed in
            var scene = try await EntraScene.withTwoClouds(in: bed)
            let signIn = try await signInBob(scene)
            #expect(try await scene.silent(Self.aware)["accessToken"] == signIn.token["accessToken"])
            try await scene.restart()
            #expect(try await scene.silent(Self.aware)["accessToken"] == signIn.token["accessToken"])
            let fresh = try await scene.silent(["instanceAware": true, "forceRefresh": true])
            #expect(fresh["fromCache"] == false)
            #expect(fresh.text("account.id") == signIn.accountID)
            #expect(scene.otherCloud?.log.last { $0.endpoint == .token }?.tenant == EntraDirectory.beta.id)
            #expect(!scene.provider.log.contains { $0.endpoint == .token })
            await expectRefusal("interactionRequired") { try await scene.silent() }
        }
    }

    @Test("people of both clouds are accounts of one app, and a request must name one")
    func both() async throws {
        try await withTestBed { bed in
            let scene = try await EntraScene.withTwoClouds(in: bed)
            let bob = try await signInBob(scene)
            let alice = try await scene.signIn(Self.aware)
            #expect(alice.token.text("account.environment") == "127.0.0.1:\(scene.provider.port)")
            await expectRefusal("ambiguousAccount") { try await scene.silent(Self.aware) }
            for signIn in [bob, alice] {
                let one: JSONObject = ["instanceAware": true, "account": ["id": .string(signIn.accountID)]]
                #expect(try await scene.silent(one)["accessToken"] == signIn.token["accessToken"])
            }
            // Without it there is only one.
            #expect(try await scene.silent()["accessToken"] == alice.token["accessToken"])
        }
    }

    @Test("the registration allows it for every request, but not for an app with a client secret")
    func registration() async throws {
        try await withTestBed { bed in
            let scene = try await EntraScene.withTwoClouds(in: bed)
            let authority = scene.provider.authority("common")
            let added = try await scene.broker.ctl([
                "apps", "add", "notes", "--client-id", "demo-one", "--authority", authority,
                "--instance-aware", "--replace",
            ])
            #expect(added.status == .exited(0), "\(added)")
            #expect(added.output.contains("Clouds"))
            let signIn = try await signInBob(scene, [:])
            #expect(try await scene.silent()["accessToken"] == signIn.token["accessToken"])
            let refusal = await expectRefusal("invalidParameter") {
                try await scene.broker.register(
                    "secretive", clientID: "demo-one", authority: authority,
                    ["instanceAware": true, "clientSecret": "hush"])
            }
            #expect(refusal?.message.contains("instanceAware") == true)
        }
    }

    @Test("a request of an app with a client secret cannot allow other clouds")
    func secret() async throws {
        try await withTestBed { bed in
            let scene = try await EntraScene.withTwoClouds(in: bed)
            try await scene.broker.register(
                "secretive", clientID: "demo-one", authority: scene.provider.authority("common"),
                ["clientSecret": "hush"])
            await expectRefusal("invalidParameter") {
                try await scene.broker.acquireSilent(app: "secretive", Self.aware)
            }
        }
    }

    @Test("a redirect that names an unknown host is refused, and nothing is sent to it")
    func unknown() async throws {
        try await withTestBed { bed in
            // It issues the code itself, and names another host as the issuer.
            let bait = try await DevIdentityProvider.start(.entra())
            bed.atEnd { await bait.stop() }
            let scene = try await EntraScene.withTwoClouds(in: bed) {
                $0.cloudInstanceHost = "127.0.0.1:\(bait.port)"
            }
            let refusal = await expectRefusal("invalidResponse") { try await scene.signIn(Self.aware) }
            #expect(refusal?.message.contains("127.0.0.1:\(bait.port)") == true)
            #expect(bait.log.isEmpty)
            #expect(!scene.provider.log.contains { $0.endpoint == .token })
            #expect(try await scene.accounts().isEmpty)
        }
    }

    @Test("another cloud in the redirect is refused if the sign-in did not allow it, known or not")
    func unasked() async throws {
        try await withTestBed { bed in
            let scene = try await EntraScene.withTwoClouds(in: bed)
            let (own, other) = (scene.provider, try #require(scene.otherCloud))
            await expectRefusal("invalidResponse") {
                try await scene.broker.signIn(app: "notes", scopes: [EntraScene.scope], in: bed) { url in
                    var redirect = try await own.signIn(.alice, at: url, in: bed)
                    redirect.url += "&cloud_instance_host_name=127.0.0.1:\(other.port)"
                    return redirect
                }
            }
            #expect(!own.log.contains { $0.endpoint == .token })
            #expect(other.log.isEmpty)
        }
    }

    @Test("a code attributed to another known cloud yields no token")
    func misdirected() async throws {
        try await withTestBed { bed in
            let scene = try await EntraScene.withTwoClouds(in: bed)
            let (own, other) = (scene.provider.port, try #require(scene.otherCloud).port)
            await expectRefusal("interactionRequired") {
                try await signInBob(scene) {
                    $0.replacing(
                        "cloud_instance_host_name=127.0.0.1%3A\(other)",
                        with: "cloud_instance_host_name=127.0.0.1%3A\(own)")
                }
            }
            #expect(try await scene.accounts().isEmpty)
        }
    }

    @Test("a sign-in for an account of another cloud begins there, and a sign-out ends it there")
    func account() async throws {
        try await withTestBed { bed in
            let scene = try await EntraScene.withTwoClouds(in: bed)
            let other = try #require(scene.otherCloud)
            let bob = try await signInBob(scene)
            let more: JSONObject = ["instanceAware": true, "account": ["id": .string(bob.accountID)]]
            let again = try await scene.broker.signIn(app: "notes", scopes: [EntraScene.scope], more, in: bed) {
                try await other.signIn(.bob, at: $0, in: bed)
            }
            #expect(again.accountID == bob.accountID)
            #expect(again.opening.text("url").hasPrefix(other.origin))
            let stages = try await scene.broker.signOut(app: "notes", ["fromBrowser": true]) { opening in
                #expect(opening.text("url").hasPrefix(other.origin))
                _ = try await HTTPSession(in: bed).get(
                    opening.text("redirectUri") + "?state=" + (query(of: opening.text("url"))["state"] ?? ""))
            }
            #expect(stages.text("stages.local") == "done")
            #expect(stages.text("stages.browser") == "done")
            await expectRefusal("interactionRequired", reason: "signedOut") { try await scene.silent(Self.aware) }
        }
    }

    @Test("a removed cloud is unreachable at once, and its accounts return with it")
    func reload() async throws {
        try await withTestBed { bed in
            let scene = try await EntraScene.withTwoClouds(in: bed)
            let signIn = try await signInBob(scene)
            let file = try #require(scene.broker.configurationFile)
            let configuration = try String(contentsOfFile: file, encoding: .utf8)
            func reload(_ text: String, times: Int) async throws {
                try text.write(toFile: file, atomically: true, encoding: .utf8)
                scene.broker.process.send(SIGHUP)
                try await eventually("the broker has reloaded") {
                    scene.broker.process.errorText.ranges(of: "configuration reloaded").count == times
                }
            }
            let alone = configuration.split(separator: "\n").filter { !$0.hasPrefix("other_clouds") }
            try await reload(alone.joined(separator: "\n") + "\n", times: 1)
            await expectRefusal("interactionRequired") { try await scene.silent(Self.aware) }
            try await reload(configuration, times: 2)
            #expect(try await scene.silent(Self.aware)["accessToken"] == signIn.token["accessToken"])
        }
    }

    // MARK: The programs only

    /// `broker-dev-idp --flavor entra`: its location, and the configuration that it prints.
    private func startCloud(
        _ flags: [String] = [], in bed: TestBed
    ) async throws -> (origin: String, configuration: String) {
        let process = try bed.start(
            Launch(try PackageTree.program("broker-dev-idp"), ["--flavor", "entra", "--any-client"] + flags),
            as: "cloud")
        try await process.waitForText("kind = \"entra\"\n" + (flags.isEmpty ? "" : "other_clouds"))
        let text = process.outputText
        let start = try #require(text.firstRange(of: "[provider.")).lowerBound
        let origin = try #require(text[start...].split(separator: "\"").dropFirst().first)
        return (String(origin), String(text[start...]))
    }

    /// Bob on the pages of one provider, until the redirect to elsewhere.
    private func visit(_ url: String, at origin: String, in bed: TestBed) async throws -> ProviderRedirect {
        try await FormBrowser(session: HTTPSession(in: bed), home: origin).visit(url) { form in
            form.fields["username"] = Person.bob.name
            form.fields["password"] = Person.bob.password
        }
    }

    @Test("brokerctl, brokerd and two broker-dev-idp work with the configuration that they print")
    func programs() async throws {
        try await withTestBed { bed in
            let other = try await startCloud(in: bed)
            let own = try await startCloud(["--other-cloud", "bob=\(other.origin)"], in: bed)
            let broker = try await BrokerProcess.start(in: bed) { $0.configuration = own.configuration }
            let added = try await broker.ctl([
                "apps", "add", "notes", "--client-id", "demo-one", "--authority", "\(own.origin)/common",
                "--instance-aware",
            ])
            #expect(added.succeeded, "\(added)")
            let login = try broker.startCtl([
                "login", "--app", "notes", "--scope", EntraScene.scope, "--no-browser",
            ])
            try await login.waitForText("instance_aware=true")
            let url = try #require(login.outputText.split(separator: "\n").first.map(String.init))
            let onward = try await visit(url, at: own.origin, in: bed)
            let redirect = try await visit(onward.url, at: other.origin, in: bed)
            _ = try await HTTPSession(in: bed).get(redirect.url)
            #expect(await login.exitStatus() == .exited(0))
            let token = try await broker.ctl([
                "token", "--app", "notes", "--scope", EntraScene.scope, "--format", "json", "--force-refresh",
            ])
            let answer = try JSONDecoder().decode(JSONObject.self, from: token.outputData)
            #expect(answer.text("authority") == "\(other.origin)/\(EntraDirectory.beta.id)")
            #expect(answer.text("account.username") == "bob@\(EntraDirectory.beta.domain)")
        }
    }
}

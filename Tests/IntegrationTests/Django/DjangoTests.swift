import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// A provider that accepts any loopback port, signs with RS256, issues opaque access tokens, and has a grace time.
@Suite("django-oauth-toolkit", .serialized) struct DjangoTests {
    /// A provider and a broker that has the app `notes`.
    struct Scene {
        var provider: DjangoProvider
        var broker: BrokerProcess

        static func make(
            in bed: TestBed, configuration: String? = nil, _ change: (inout DjangoProvider.Settings) -> Void = { _ in }
        ) async throws -> Scene {
            let provider = try await DjangoProvider.start(in: bed, change)
            let broker = try await BrokerProcess.start(in: bed) { $0.configuration = configuration }
            try await broker.register("notes", clientID: provider.clientID, authority: provider.authority)
            return Scene(provider: provider, broker: broker)
        }

        func signIn(_ person: Person = .alice, in bed: TestBed) async throws -> SignIn {
            let provider = provider
            return try await broker.signIn(app: "notes", in: bed) { try await provider.signIn(person, at: $0) }
        }

        /// Whether an access token is valid at the provider.
        func takes(_ token: JSONObject, in bed: TestBed) async throws -> Bool {
            try await HTTPSession(in: bed).send(
                "GET", "\(provider.authority)/userinfo/", headers: ["Authorization": token.text("authorizationHeader")]
            ).status == 200
        }
    }

    @Test("a person signs in through any free port, and the account is available for the next request")
    func anyPort() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed)
            let first = try await scene.signIn(in: bed)
            let second = try await scene.signIn(.bob, in: bed)
            #expect(first.opening.text("redirectUri").hasPrefix("http://127.0.0.1:"))
            let accounts = try await scene.broker.call("accounts.list", ["app": "notes"])[path: "accounts"]
            #expect(accounts.arrayValue?.map { $0["username"] } == ["alice", "bob"])

            // Two match, so one must be named.
            let refusal = await expectRefusal("ambiguousAccount") { try await scene.broker.acquireSilent(app: "notes") }
            #expect(refusal?.data["accounts"]?.arrayValue?.count == 2)
            let byName = try await scene.broker.acquireSilent(app: "notes", ["account": ["username": "ALICE"]])
            #expect(byName[path: "accessToken"] == .string(first.accessToken))
            let byID = try await scene.broker.acquireSilent(
                app: "notes", ["account": ["id": .string(second.accountID)]])
            #expect(byID[path: "accessToken"] == .string(second.accessToken))
            #expect(scene.provider.tokenRequests == 2)
        }
    }

    @Test("a short-lived token is served until it expires, and then refreshed with the rotated refresh token")
    func expiryInSeconds() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed, configuration: "[cache]\nexpiry_buffer = 0\n") {
                $0.accessLifetime = 4
            }
            let (broker, before) = (scene.broker, Int64(Date().timeIntervalSince1970))
            let signIn = try await scene.signIn(in: bed)
            let lifetime = (signIn.token[path: "expiresOn"].integerValue ?? 0) - before
            #expect(lifetime >= 4)
            var current = signIn.accessToken
            for round in 1...2 {
                let last = current
                try await eventually("the token expires and a new one comes") {
                    let token = try await broker.acquireSilent(app: "notes")
                    #expect(token[path: "fromCache"].boolValue == (token[path: "accessToken"] == .string(last)))
                    return token[path: "accessToken"] != .string(last)
                }
                #expect(scene.provider.tokenRequests == 1 + round)
                current = try await broker.acquireSilent(app: "notes", ["minimumLifetime": 0]).text("accessToken")
            }
        }
    }

    @Test("a used refresh token works within the provider's grace time, and without one it ends the sign-in")
    func grace() async throws {
        for (grace, works) in [(600, true), (0, false)] {
            try await withTestBed { bed in
                let scene = try await Scene.make(in: bed) { $0.grace = grace }
                _ = try await scene.signIn(in: bed)
                await scene.broker.stop()
                let backup = bed.path("backup")
                try FileManager.default.copyItem(atPath: scene.broker.stateDirectory, toPath: backup)
                for directory in [scene.broker.stateDirectory, backup] {
                    let broker = try await BrokerProcess.start(in: bed) { $0.stateDirectory = directory }
                    if works || directory != backup {
                        let token = try await broker.acquireSilent(app: "notes", ["forceRefresh": true])
                        #expect(token[path: "fromCache"] == false)
                    } else {
                        await expectRefusal("interactionRequired", reason: "refreshTokenRevoked") {
                            try await broker.acquireSilent(app: "notes", ["forceRefresh": true])
                        }
                    }
                    await broker.stop()
                }
                guard !works else { return }
                // Every holder of a token of the family is signed out: one of the two may be a thief.
                let broker = try await BrokerProcess.start(in: bed) {
                    $0.stateDirectory = scene.broker.stateDirectory
                }
                await expectRefusal("interactionRequired", reason: "refreshTokenRevoked") {
                    try await broker.acquireSilent(app: "notes", ["forceRefresh": true])
                }
            }
        }
    }

    @Test("a confidential client signs in and refreshes with its secret")
    func confidentialClient() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed)
            let provider = scene.provider
            let app = try await scene.broker.register(
                "web", clientID: provider.confidentialClientID, authority: provider.authority,
                ["clientSecret": .string(provider.clientSecret)])
            #expect(!"\(app)".contains(provider.clientSecret))
            let signIn = try await scene.broker.signIn(app: "web", in: bed) { try await provider.signIn(.bob, at: $0) }
            let refreshed = try await scene.broker.acquireSilent(app: "web", ["forceRefresh": true])
            #expect(refreshed[path: "accessToken"] != .string(signIn.accessToken))

            try await scene.broker.register(
                "imposter", clientID: provider.confidentialClientID, authority: provider.authority,
                ["clientSecret": "not-the-secret"])
            await expectRefusal("invalidClient") {
                try await scene.broker.signIn(app: "imposter", in: bed) { try await provider.signIn(.bob, at: $0) }
            }
        }
    }

    @Test("the provider's login_required for prompt none is reported as interactionRequired")
    func promptNone() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed)
            let provider = scene.provider
            let refusal = await expectRefusal("interactionRequired", reason: "loginRequired") {
                try await scene.broker.signIn(app: "notes", ["prompt": "none"], in: bed) {
                    try await provider.signIn(nil, at: $0)
                }
            }
            #expect(refusal?.data["oauthError"] == "login_required")
        }
    }

    @Test("with a session, prompt none works, login asks for the password, and create signs up")
    func prompts() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed)
            let (broker, provider, session) = (scene.broker, scene.provider, HTTPSession(in: bed))
            _ = try await broker.signIn(app: "notes", in: bed) {
                try await provider.signIn(.alice, at: $0, session: session)
            }
            let silent = try await broker.signIn(
                app: "notes", ["prompt": "none", "account": ["username": "alice"]], in: bed
            ) {
                try await provider.signIn(nil, at: $0, session: session)
            }
            #expect(silent.token[path: "account.username"] == "alice")

            let passwords = provider.requestCount("POST", "/login/")
            _ = try await broker.signIn(app: "notes", ["prompt": "login"], in: bed) {
                try await provider.signIn(.alice, at: $0, session: session)
            }
            #expect(provider.requestCount("POST", "/login/") == passwords + 1)

            let carol = Person(name: "carol", password: "carol-pw-1")
            let created = try await broker.signIn(app: "notes", ["prompt": "create"], in: bed) {
                try await provider.signIn(carol, at: $0)
            }
            #expect(created.token[path: "account.username"] == "carol")
            #expect(provider.requestCount("POST", "/login/") == passwords + 1)
            #expect(provider.requestCount("POST", "/sign-up/") == 1)
        }
    }

    @Test("a session older than max_age is detected by auth_time, although the provider accepted it")
    func maxAge() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed)
            let (provider, session) = (scene.provider, HTTPSession(in: bed))
            func signIn(_ more: JSONObject) async throws -> SignIn {
                try await scene.broker.signIn(app: "notes", more, in: bed) {
                    try await provider.signIn(.alice, at: $0, session: session)
                }
            }
            _ = try await signIn(["maxAge": 60])
            try provider.ageSignIns()
            await expectRefusal("interactionRequired", reason: "loginRequired") { try await signIn(["maxAge": 60]) }
            let again = try await signIn(["maxAge": 60, "prompt": "login"])
            #expect(again.token[path: "account.username"] == "alice")
        }
    }

    @Test("a public client registers itself without the device grant, which is refused here, and signs in")
    func registration() async throws {
        try await withTestBed { bed in
            let provider = try await DjangoProvider.start(in: bed)
            // Its discovery document contains neither.
            let broker = try await BrokerProcess.start(in: bed) {
                $0.configuration = """
                    [provider."\(provider.authority)"]
                    registration_endpoint = "\(provider.authority)/register/"
                    device_authorization_endpoint = "\(provider.authority)/device-authorization/"
                    """
            }
            let answer = try await broker.call(
                "apps.registerAtProvider", ["name": "made", "authority": .string(provider.authority)])
            #expect(answer[path: "app.confidential"] == false)
            #expect(provider.requestCount("POST", "/o/register/") == 2)
            let signIn = try await broker.signIn(app: "made", in: bed) { try await provider.signIn(.bob, at: $0) }
            #expect(signIn.token[path: "account.username"] == "bob")
            let refreshed = try await broker.acquireSilent(app: "made", ["forceRefresh": true])
            #expect(refreshed[path: "fromCache"] == false)
        }
    }

    @Test("denied consent is reported as userCanceled")
    func consentDenied() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed)
            let provider = scene.provider
            await expectRefusal("userCanceled") {
                try await scene.broker.signIn(app: "notes", in: bed) {
                    try await provider.signIn(.alice, at: $0, consents: false)
                }
            }
            let accounts = try await scene.broker.call("accounts.list")[path: "accounts"]
            #expect(accounts == [])
        }
    }
}

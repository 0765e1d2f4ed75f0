import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// A provider whose refresh tokens stay the same, which reports a dead one as an invalid request, and ignores `offline_access`
/// without consent (OpenID Connect Core, section 11).
@Suite(
    "LemonLDAP::NG", .serialized,
    .enabled(if: Prerequisite.lemonLDAP.shouldRun, "needs LemonLDAP::NG"))
struct LemonLDAPTests {
    private struct Scene {
        var provider: LemonLDAPProvider
        var broker: BrokerProcess

        static func make(
            in bed: TestBed, _ client: (LemonLDAPProvider) -> String, secret: Bool = false
        ) async throws -> Scene {
            let provider = try await LemonLDAPProvider.start(in: bed)
            let broker = try await BrokerProcess.start(in: bed)
            var more: JSONObject = ["redirectUri": .string(provider.redirectURI)]
            if secret { more["clientSecret"] = .string(provider.clientSecret) }
            _ = try await broker.register(
                "notes", clientID: client(provider), authority: provider.authority, more)
            return Scene(provider: provider, broker: broker)
        }

        func signIn(
            _ person: Person = .alice, consents: Bool = true, session: HTTPSession? = nil, in bed: TestBed
        ) async throws -> SignIn {
            let provider = provider
            return try await broker.signIn(app: "notes", scopes: ["email"], in: bed) {
                try await provider.signIn(person, at: $0, consents: consents, session: session)
            }
        }

        func silent(_ more: JSONObject = [:]) async throws -> JSONObject {
            try await broker.acquireSilent(app: "notes", scopes: ["email"], more)
        }

        /// Whether an access token is valid at the provider.
        func takes(_ token: JSONObject, in bed: TestBed) async throws -> Bool {
            try await HTTPSession(in: bed).send(
                "GET", "\(provider.authority)/oauth2/userinfo",
                headers: ["Authorization": token.text("authorizationHeader")]
            ).status == 200
        }
    }

    @Test("a person signs in, and stays signed in by refresh tokens", arguments: [false, true])
    func signIn(isConfidential: Bool) async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(
                in: bed, { isConfidential ? $0.confidentialClientID : $0.clientID }, secret: isConfidential)
            let signIn = try await scene.signIn(in: bed)
            #expect(try await scene.takes(signIn.token, in: bed))
            #expect(try await scene.silent()[path: "accessToken"] == .string(signIn.accessToken))
            for _ in 1...2 {
                let fresh = try await scene.silent(["forceRefresh": true])
                #expect(fresh[path: "fromCache"] == false)
                #expect(try await scene.takes(fresh, in: bed))
            }
            let account = try await scene.broker.call("accounts.list", ["app": "notes"])[path: "accounts"]
            #expect(account.arrayValue?.count == 1 && account.arrayValue?.first?["username"] == "alice")
        }
    }

    @Test("after a refusal on the page the provider reports missing consent, which the app receives")
    func denied() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed, { $0.clientID })
            await expectRefusal("interactionRequired", reason: "consentRequired") {
                try await scene.signIn(consents: false, in: bed)
            }
        }
    }

    @Test("a rejected token is replaced by one refresh, and the same again is returned marked as rejected")
    func rejectedToken() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed, { $0.clientID })
            let first = try await scene.signIn(in: bed).accessToken
            let asked = scene.provider.requestCount("POST", "/oauth2/token")
            let answers = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 1...8 {
                    group.addTask {
                        try await scene.silent(["rejectedToken": .string(first)]).text("accessToken")
                    }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(answers.count == 1 && !answers.contains(first))
            #expect(scene.provider.requestCount("POST", "/oauth2/token") == asked + 1)
            let second = try #require(answers.first)
            // A server that refuses everything costs one refresh a minute.
            let same = try await scene.silent(["rejectedToken": .string(second)])
            #expect(same.text("accessToken") == second && same[path: "rejected"] == true)
            #expect(scene.provider.requestCount("POST", "/oauth2/token") == asked + 1)
        }
    }

    @Test("a refresh token without a session is distinguished from an app's mistake, and needs the person")
    func deadToken() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed, { $0.clientID })
            let token = try await scene.signIn(in: bed).accessToken
            try scene.provider.endSessions()
            await expectRefusal("interactionRequired") {
                try await scene.silent(["rejectedToken": .string(token)])
            }
            #expect(try await scene.takes(try await scene.signIn(in: bed).token, in: bed))
        }
    }

    @Test("a refresh token that requires consent is detected and reported, and the next sign-in brings one")
    func offlineConsent() async throws {
        try await withTestBed { bed in
            let scene = try await Scene.make(in: bed, { $0.offlineClientID })
            let session = HTTPSession(in: bed)
            let first = try await scene.signIn(session: session, in: bed)
            #expect(first.opening.text("url").contains("offline_access"))
            #expect(!first.opening.text("url").contains("prompt="))
            await expectRefusal("interactionRequired", reason: "consentRequired") {
                try await scene.silent(["forceRefresh": true])
            }
            let second = try await scene.signIn(session: session, in: bed)
            #expect(second.opening.text("url").contains("prompt=consent"))
            let fresh = try await scene.silent(["forceRefresh": true])
            #expect(try await scene.takes(fresh, in: bed))
            // It does not depend on the browser's session.
            #expect(fresh.text("accessToken") != second.accessToken)
        }
    }
}

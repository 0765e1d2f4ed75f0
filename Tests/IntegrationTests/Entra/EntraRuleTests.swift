import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

/// The responses of an Entra-like provider, and the resulting errors for apps.
@Suite("Entra's families, challenges and refusals", .serialized)
struct EntraRuleTests {
    /// The apps `notes` and `mail` are of one family at the provider, `other` is not; all share their accounts here.
    private struct Scene {
        let provider: RunningProvider
        let broker: BrokerProcess
        let bed: TestBed

        func signIn(_ app: String = "notes", _ scopes: [String] = ["notes.read"], _ more: JSONObject = [:]) async throws
            -> SignIn
        {
            let (provider, bed) = (provider, bed)
            return try await broker.signIn(app: app, scopes: scopes, more, in: bed) {
                try await provider.signIn(.alice, at: $0, in: bed)
            }
        }

        func silent(_ app: String = "notes", _ more: JSONObject = [:]) async throws -> JSONObject {
            try await broker.acquireSilent(app: app, scopes: ["notes.read"], more)
        }

        func tokenRequests(of client: String) -> Int {
            provider.log.count { $0.endpoint == .token && $0.clientID == client }
        }
    }

    private func withScene(
        _ change: (inout ProviderOptions) -> Void = { _ in }, _ body: (Scene) async throws -> Void
    ) async throws {
        var options = ProviderOptions.entra()
        change(&options)
        let chosen = options
        try await withTestBed { bed in
            let provider = try await DevIdentityProvider.start(chosen)
            bed.atEnd { await provider.stop() }
            let broker = try await BrokerProcess.start(in: bed) {
                $0.configuration = "[provider.\"\(provider.origin)\"]\nkind = \"entra\"\n"
            }
            for (app, client) in [("notes", "demo-one"), ("mail", "demo-two"), ("other", "demo-other")] {
                try await broker.register(
                    app, clientID: client, authority: provider.authority("common"), ["group": "suite"])
            }
            try await body(Scene(provider: provider, broker: broker, bed: bed))
        }
    }

    @Test("an app of the family gets its token through the sign-in of another one")
    func family() async throws {
        try await withScene { scene async throws in
            let signIn = try await scene.signIn()
            let token = try await scene.silent("mail")
            #expect(token["accessToken"] != signIn.token["accessToken"])
            #expect(token["account"]?.objectValue?["id"] == .string(signIn.accountID))
            #expect(scene.tokenRequests(of: "demo-two") == 1)
            #expect(try await scene.silent("mail")["fromCache"] == true)
        }
    }

    @Test("an app outside the family needs the person, and a family's refresh token survives its attempt")
    func outsider() async throws {
        try await withScene { scene async throws in
            _ = try await scene.signIn()
            await expectRefusal("interactionRequired") { try await scene.silent("other") }
            await expectRefusal("interactionRequired") { try await scene.silent("other") }
            #expect(scene.tokenRequests(of: "demo-other") <= 1)
            #expect(try await scene.silent("notes", ["forceRefresh": true])["fromCache"] == false)
        }
    }

    @Test("a claims challenge reaches the app, and the sign-in with its claims meets it")
    func challenge() async throws {
        try await withScene { scene async throws in
            _ = try await scene.signIn()
            try scene.provider.requireClaims(#"{"access_token":{"polids":{"essential":true,"values":["one"]}}}"#)
            let refusal = await expectRefusal("interactionRequired", reason: "claimsChallenge") {
                try await scene.silent("notes", ["forceRefresh": true])
            }
            let claims = try #require(refusal?.data["claims"])
            let again = try await scene.signIn("notes", ["notes.read"], ["claims": claims])
            #expect(scene.provider.log.contains { $0.endpoint == .authorize && $0.claims?.contains("polids") == true })
            #expect(!again.accessToken.isEmpty)
            #expect(try await scene.silent("notes", ["forceRefresh": true])["fromCache"] == false)
        }
    }

    @Test("declined scopes are reported, and the granted token is in the cache")
    func declined() async throws {
        try await withScene({ $0.declinedScopes = ["mail.send"] }) { scene async throws in
            let refusal = await expectRefusal("serverDeclinedScopes") {
                try await scene.signIn("notes", ["notes.read", "mail.send"])
            }
            #expect(refusal?.data["declinedScopes"] == ["mail.send"])
            #expect(try await scene.silent()["fromCache"] == true)
            // The recipe of the guide.
            let granted = (refusal?.data["grantedScopes"]?.arrayValue ?? []).compactMap { $0.stringValue }
            let token = try await scene.broker.acquireSilent(app: "notes", scopes: granted)
            #expect(token["fromCache"] == true)
        }
    }

    @Test("a revoked sign-in needs the person, and reports the provider's text for the administrator")
    func revoked() async throws {
        try await withScene { scene async throws in
            _ = try await scene.signIn()
            scene.provider.revokeAllGrants()
            let refusal = await expectRefusal("interactionRequired") {
                try await scene.silent("notes", ["forceRefresh": true])
            }
            #expect(refusal?.data["oauthError"] == "invalid_grant")
            #expect(refusal?.data["subError"] == "bad_token")
            #expect(refusal?.data["description"]?.stringValue?.contains("AADSTS50173") == true)
        }
    }
}

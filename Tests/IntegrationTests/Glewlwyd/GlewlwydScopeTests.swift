import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// Audience and scopes of glewlwyd's own access tokens.
@Suite("glewlwyd: resources, narrower tokens, new keys", .serialized)
struct GlewlwydScopeTests {
    @Test("a token is issued for the requested resource, and is not used for another one")
    func resources() async throws {
        try await withTestBed { bed in
            let scene = try await GlewlwydTests.Scene.make(in: bed)
            let (provider, broker) = (scene.provider, scene.broker)
            let (files, mail): (JSONValue, JSONValue) = ("https://files.example.org", "https://mail.example.org")
            try await provider.tune(["resource-allowed": true, "resource-scope": ["api": [files, mail]]])
            func signIn(for resource: JSONValue) async throws -> SignIn {
                try await broker.signIn(app: "mail", ["resource": resource], in: bed) {
                    try await provider.signIn(.alice, at: $0)
                }
            }
            let signedIn = try await signIn(for: files)
            #expect(try claims(of: signedIn.accessToken)["aud"] == files)
            let cached = try await broker.acquireSilent(app: "mail", ["resource": files])
            #expect(cached[path: "accessToken"] == .string(signedIn.accessToken))
            let refreshed = try await broker.acquireSilent(app: "mail", ["resource": files, "forceRefresh": true])
            #expect(try claims(of: refreshed.text("accessToken"))["aud"] == files)

            // The grant was for the one; the other needs the person.
            let silent = await expectRefusal("interactionRequired") {
                try await broker.acquireSilent(app: "mail", ["resource": mail])
            }
            #expect(silent?.data["oauthError"] == "invalid_target")
            #expect(try await claims(of: signIn(for: mail).accessToken)["aud"] == mail)
            let both = try await broker.acquireSilent(app: "mail", ["resource": files])
            #expect(both[path: "accessToken"] == refreshed[path: "accessToken"])

            let unknown = await expectRefusal("invalidParameter") {
                try await signIn(for: "https://other.example.org")
            }
            #expect(unknown?.data["oauthError"] == "invalid_target")
        }
    }

    @Test(
        "glewlwyd ignores fewer scopes on refresh, and the token serves all scopes of the response")
    func downScopingIgnored() async throws {
        try await withTestBed { bed in
            let scene = try await GlewlwydTests.Scene.make(in: bed)
            let (provider, broker) = (scene.provider, scene.broker)
            _ = try await broker.signIn(app: "mail", scopes: ["api", "files"], in: bed) {
                try await provider.signIn(.alice, at: $0)
            }
            let token = try await broker.acquireSilent(app: "mail", scopes: ["files"], ["forceRefresh": true])
            #expect(token[path: "fromCache"] == false)
            let said = Set(token[path: "scopes"].arrayValue?.compactMap(\.stringValue) ?? [])
            #expect(said.isSuperset(of: ["api", "files"]))
            let inside = try claims(of: token.text("accessToken"))["scope"]?.stringValue ?? ""
            #expect(Set(inside.split(separator: " ").map(String.init)) == said)
            let other = try await broker.acquireSilent(app: "mail", scopes: ["api"])
            #expect(other[path: "accessToken"] == token[path: "accessToken"])
        }
    }

    @Test("glewlwyd ignores more scopes on refresh, so the missing ones need the person and the token is kept")
    func widerScope() async throws {
        try await withTestBed { bed in
            let scene = try await GlewlwydTests.Scene.make(in: bed)
            _ = try await scene.signIn(in: bed)
            let refusal = await expectRefusal("interactionRequired", reason: "scopesNotGranted") {
                try await scene.broker.acquireSilent(app: "mail", scopes: ["api", "files"])
            }
            #expect(refusal?.data["declinedScopes"] == ["files"])
            #expect(try await scene.broker.acquireSilent(app: "mail")[path: "fromCache"] == true)
        }
    }

    @Test("refreshes and sign-ins continue after glewlwyd changes its key")
    func newSigningKey() async throws {
        try await withTestBed { bed in
            let scene = try await GlewlwydTests.Scene.make(in: bed)
            _ = try await scene.signIn(in: bed)
            try await scene.provider.changeSigningKey()
            let refreshed = try await scene.broker.acquireSilent(app: "mail", ["forceRefresh": true])
            #expect(refreshed[path: "fromCache"] == false)
            #expect(try await scene.signIn(in: bed).token[path: "account.username"] == "alice")
        }
    }
}

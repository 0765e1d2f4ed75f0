import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// How glewlwyd prompts a person with a session there: the displayed page, and its parameters.
@Suite("glewlwyd: prompts, hints and ages", .serialized)
struct GlewlwydPromptTests {
    @Test("each prompt reaches glewlwyd's page despite a session, and after a sign-out here it is login")
    func prompts() async throws {
        try await withTestBed { bed in
            let scene = try await GlewlwydTests.Scene.make(in: bed)
            let (provider, session) = (scene.provider, HTTPSession(in: bed))
            func signIn(_ more: JSONObject, expecting prompt: String?) async throws {
                let signIn = try await scene.broker.signIn(app: "mail", more, in: bed) { url in
                    let page = try await provider.open(url, session: session).isPage()
                    #expect(page["prompt"] == prompt)
                    return try await provider.signIn(.alice, at: url, session: session)
                }
                #expect(signIn.token[path: "account.username"] == "alice")
            }
            try await signIn([:], expecting: nil)
            for prompt in ["login", "consent", "select_account"] {
                try await signIn(["prompt": .string(prompt)], expecting: prompt)
            }
            _ = try await scene.broker.signOut(app: "mail")
            try await signIn([:], expecting: "login")
        }
    }

    @Test(
        "a session older than max_age leads to a new sign-in, and no token is accepted without auth_time")
    func maxAge() async throws {
        try await withTestBed { bed in
            let scene = try await GlewlwydTests.Scene.make(in: bed)
            let (provider, session) = (scene.provider, HTTPSession(in: bed))
            _ = try await scene.broker.signIn(app: "mail", in: bed) {
                try await provider.signIn(.alice, at: $0, session: session)
            }
            let asked: JSONObject = ["maxAge": 6, "acrValues": ["urn:example:gold"]]
            // Its ID token has the auth_time 0.
            let refusal = await expectRefusal("invalidResponse") {
                try await scene.broker.signIn(app: "mail", asked, in: bed) { url in
                    #expect(query(of: url)["max_age"] == "6")
                    // It ignores unknown contexts.
                    #expect(query(of: url)["acr_values"] == "urn:example:gold")
                    try await eventually("the session is too old for glewlwyd") {
                        let answer = try await provider.open(url, answered: true, session: session)
                        guard case .page(let page) = answer else { return false }
                        return page["refresh_login"] == "true"
                    }
                    return try await provider.signIn(.alice, at: url, session: session)
                }
            }
            #expect(refusal?.message.contains("auth_time") == true)
        }
    }

    @Test("claims that an app requests are in the ID token, and a silent request for them bypasses the cache")
    func claims() async throws {
        try await withTestBed { bed in
            let scene = try await GlewlwydTests.Scene.make(in: bed)
            let provider = scene.provider
            let plain = try await scene.signIn(in: bed)
            #expect(plain.token[path: "account.claims.email"] == .null)
            let claims: JSONObject = ["claims": ["id_token": ["email": .null]]]
            let asked = try await scene.broker.signIn(app: "mail", claims, in: bed) {
                try await provider.signIn(.alice, at: $0)
            }
            #expect(asked.token[path: "account.claims.email"] == "alice@example.org")
            #expect(try await scene.broker.acquireSilent(app: "mail")[path: "fromCache"] == true)
            let silent = try await scene.broker.acquireSilent(app: "mail", claims)
            #expect(silent[path: "fromCache"] == false)
        }
    }

    @Test("another person than the requested account is a mismatch, and nothing of theirs is stored")
    func mismatch() async throws {
        try await withTestBed { bed in
            let scene = try await GlewlwydTests.Scene.make(in: bed)
            let provider = scene.provider
            _ = try await scene.signIn(in: bed)
            for wanted in [
                ["account": ["username": "alice"]], ["loginHint": "alice", "strictLoginHint": true],
            ] as [JSONObject] {
                await expectRefusal("mismatchedUser") {
                    try await scene.broker.signIn(app: "mail", wanted, in: bed) { url in
                        #expect(query(of: url)["login_hint"] == "alice")
                        return try await provider.signIn(.bob, at: url)
                    }
                }
            }
            let accounts = try await scene.broker.call("accounts.list", ["app": "mail"])[path: "accounts"]
            #expect(accounts.arrayValue?.map { $0["username"] } == ["alice"])
        }
    }

    @Test("scopes without the person's consent are declined, and the granted token is in the cache")
    func declined() async throws {
        try await withTestBed { bed in
            let scene = try await GlewlwydTests.Scene.make(in: bed)
            let provider = scene.provider
            let refusal = await expectRefusal("serverDeclinedScopes") {
                try await scene.broker.signIn(app: "mail", scopes: ["email", "api"], in: bed) {
                    try await provider.signIn(.alice, at: $0, scope: "openid profile offline_access email")
                }
            }
            #expect(refusal?.data["declinedScopes"] == ["api"])
            #expect(refusal?.data["grantedScopes"]?.arrayValue?.contains("email") == true)
            let granted = try await scene.broker.acquireSilent(app: "mail", scopes: ["email"])
            #expect(granted[path: "fromCache"] == true)
        }
    }
}

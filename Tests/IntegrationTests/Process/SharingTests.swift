import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("Sharing between apps", .serialized) struct SharingTests {
    @Test("apps of one group share the sign-in, and an app outside sees nothing, even with the same client id")
    func groups() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            try await scene.register("mail", ["group": "office"])
            try await scene.register("calendar", ["group": "office"])
            try await scene.register("stranger")
            let signIn = try await scene.signIn(app: "mail")

            let shared = try await scene.silent(app: "calendar")
            #expect(shared[path: "account.id"] == .string(signIn.accountID))
            #expect(shared[path: "account.username"] == "alice")
            for app in ["stranger", "notes"] {
                await expectRefusal("interactionRequired") { try await scene.silent(app: app) }
                let accounts = try await scene.broker.call("accounts.list", ["app": .string(app)])
                #expect(accounts[path: "accounts"] == [])
                // An id that belongs to others is equivalent to an unknown one.
                let named: JSONObject = ["account": ["id": .string(signIn.accountID)]]
                await expectRefusal("accountNotFound") { try await scene.silent(app: app, named) }
            }
            #expect(scene.provider.refreshes <= 1)
        }
    }

    @Test("removing an account removes it from one app, and keeps it for the others of the group")
    func removal() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            try await scene.register("mail", clientID: "mail-client", ["group": "office"])
            try await scene.register("calendar", clientID: "calendar-client", ["group": "office"])
            let signIn = try await scene.signIn(app: "mail")
            try await scene.signIn(app: "calendar")
            let id: JSONValue = ["id": .string(signIn.accountID)]
            let removed = try await scene.broker.call("accounts.remove", ["app": "mail", "account": id])
            #expect((removed[path: "removed"].integerValue ?? 0) > 0)
            await expectRefusal("interactionRequired") { try await scene.silent(app: "mail") }
            #expect(try await scene.silent(app: "calendar")[path: "fromCache"] == true)
        }
    }

    @Test("a second redirect, a wrong state and a foreign issuer are refused, and the sign-in continues")
    func badRedirects() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let provider = scene.provider
            let signIn = try await scene.broker.interact(app: "notes", scopes: [DevelopmentScene.scope]) { url in
                let redirect = try await provider.signIn(.alice, at: url, in: bed)
                let http = HTTPSession(in: bed)
                for spoilt in [
                    redirect.url.replacing("state=", with: "state=x"), redirect.url.replacing("iss=", with: "iss=x"),
                    redirect.url + "&code=other",
                ] {
                    let page = try await http.get(spoilt)
                    #expect(page.status == 400, "\(page.text)")
                }
                let page = try await http.get(redirect.url)
                // The listener may already be closed; if it exists, it does not accept the code twice.
                if let second = try? await http.get(redirect.url) { #expect(second.status != 200) }
                return page
            }
            #expect(signIn.page?.status == 200)
            let policy = signIn.page?.header("content-security-policy") ?? ""
            #expect(policy.contains("default-src 'none'"))
            #expect(signIn.page?.header("cache-control")?.contains("no-store") == true)
        }
    }

    @Test("an unfinished sign-in ends after its timeout, and a canceled one at once")
    func endsOfSignIns() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let broker = scene.broker
            await expectRefusal("timedOut") {
                try await broker.interact(app: "notes", scopes: [DevelopmentScene.scope], ["timeout": 1]) { _ in nil }
            }
            let connection = try await broker.connect()
            let call = Task {
                try await connection.call(
                    "token.acquireInteractive", DevelopmentScene.notes)
            }
            let opening = await connection.nextNotification()?["params"]
            let id = try #require(opening?["interactionId"].stringValue)
            let canceled = try await broker.call("interaction.cancel", ["interactionId": .string(id)])
            #expect(canceled[path: "cancelled"] == true)
            await expectRefusal("userCanceled") { try await call.value }
            let again = try await broker.call("interaction.cancel", ["interactionId": .string(id)])
            #expect(again[path: "cancelled"] == false)
        }
    }

    @Test("a pasted redirect completes the sign-in, and one of no sign-in is refused")
    func pasted() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let (broker, provider) = (scene.broker, scene.provider)
            let signIn = try await broker.interact(app: "notes", scopes: [DevelopmentScene.scope]) { url in
                let redirect = try await provider.signIn(.bob, at: url, in: bed)
                await expectRefusal("invalidParameter") {
                    try await broker.call("interaction.complete", ["url": "http://127.0.0.1:1/?code=1&state=none"])
                }
                let accepted = try await broker.call("interaction.complete", ["url": .string(redirect.url)])
                #expect(accepted[path: "accepted"] == true)
                return nil
            }
            #expect(signIn.token[path: "account.username"] == "bob")
        }
    }
}

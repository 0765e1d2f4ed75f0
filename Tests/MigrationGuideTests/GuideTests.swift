import BrokerClient
import BrokerTestSupport
import DevIdentityProvider
import Foundation
import FoundationNetworking
import Testing

@Suite("The migration guide, step by step", .serialized)
@MainActor struct GuideTests {
    @Test("the tutorial: the first call signs in, the second is silent, and the API says who it is")
    func tutorial() async throws {
        try await withTestBed { bed in
            let scene = try await GuideScene.make(in: bed)
            let app = try scene.app()
            let url = try #require(URL(string: "\(scene.provider.issuer)/userinfo"))
            let first = try await app.callAPI(at: url)
            #expect(first["preferred_username"] as? String == "alice")
            let signIns = scene.provider.log.count { $0.endpoint == .token }
            let second = try await app.callAPI(at: url)
            #expect(second["sub"] as? String == first["sub"] as? String)
            #expect(scene.provider.log.count { $0.endpoint == .token } == signIns)
        }
    }

    @Test("the tutorial at Entra: user.read and /v1.0/me name the person, and a token without the scope is refused")
    func graph() async throws {
        try await withTestBed { bed in
            let scene = try await GuideScene.make(in: bed, .entra())
            let app = try scene.app(authority: scene.provider.authority("common"))
            app.scopes = ["user.read"]
            let url = try #require(URL(string: "\(scene.provider.origin)/v1.0/me"))
            let me = try await app.callAPI(at: url)
            #expect(me["displayName"] as? String == "Alice Example" && me["id"] is String, "\(me)")
            app.scopes = ["mail.read"]
            let other = try await app.acquireTokenInteractively()
            var request = URLRequest(url: url)
            request.setValue(other.authorizationHeader, forHTTPHeaderField: "Authorization")
            let (_, answer) = try await URLSession.shared.data(for: request)
            #expect((answer as? HTTPURLResponse)?.statusCode == 403)
        }
    }

    @Test("initialization: client id and authority suffice, and a blank client id is an error")
    func initialization() throws {
        _ = try TutorialApp(clientID: "demo-one", authority: "https://id.example.org")
        #expect(throws: BrokerClientError.self) {
            try TutorialApp(clientID: " ", authority: "https://id.example.org")
        }
        #expect(throws: BrokerClientError.self) { try TutorialApp(clientID: "demo-one", authority: "id.example.org") }
        _ = try TutorialApp.registeredApp()
    }

    @Test("a silent request that needs the user is followed by an interactive one")
    func interactionRequired() async throws {
        try await withTestBed { bed in
            let scene = try await GuideScene.make(in: bed)
            let app = try scene.app()
            scene.provider.setPolicy { $0.accessTokenLifetime = 0 }
            let result = try await app.acquireTokenInteractively()
            // The answer of providers for a revoked refresh token (RFC 6749, section 5.2).
            scene.provider.add(
                Fault(
                    .token, .status, status: 400, contentType: "application/json", body: #"{"error":"invalid_grant"}"#))
            let again = try await app.acquireTokenSilently(result.account)
            #expect(again.account.identifier == result.account.identifier)
            #expect(!again.isFromCache)
        }
    }

    @Test("errors: a cancellation is an error of its own, any other is a sentence with an id for the logs")
    func errors() async throws {
        try await withTestBed { bed in
            let scene = try await GuideScene.make(in: bed)
            let app = try scene.app()
            let refusing = WebviewParameters { _ in throw CancellationError() }
            let parameters = InteractiveTokenParameters(scopes: app.scopes, webviewParameters: refusing)
            #expect(await app.tokenOrExplanation(parameters) == nil)
            #expect(app.log.count == 1)
            await scene.broker.stop()
            #expect(await app.tokenOrExplanation(parameters) == nil)
            #expect(app.log.last?.hasSuffix("(no request was made)") == true)
        }
    }

    @Test("errors: an app continues with the granted scopes", arguments: [false, true])
    func declinedScopes(isEntra: Bool) async throws {
        try await withTestBed { bed in
            let scene = try await GuideScene.make(in: bed, isEntra ? .entra() : ProviderOptions()) {
                $0.scopes.insert("mail.send")
                $0.declinedScopes = ["mail.send"]
            }
            let app = try scene.app(authority: isEntra ? scene.provider.authority("common") : nil)
            let parameters = InteractiveTokenParameters(
                scopes: ["notes.read", "mail.send"], webviewParameters: app.webviewParameters)
            let result = try #require(await app.tokenOrExplanation(parameters))
            #expect(result.isFromCache && result.scopes.contains("notes.read"))
            #expect(app.log == ["Going on with notes.read."])
        }
    }

    @Test("an app that stored a username finds the account by it, and later by the identifier")
    func savedAccounts() async throws {
        try await withTestBed { bed in
            let scene = try await GuideScene.make(in: bed)
            let app = try scene.app()
            #expect(try await app.account(savedAs: nil, formerUserID: "alice") == nil)
            let account = try await app.acquireTokenInteractively().account
            let former = try #require(try await app.account(savedAs: nil, formerUserID: "ALICE"))
            #expect(former.identifier == account.identifier)
            let found = try await app.account(savedAs: former.identifier, formerUserID: "nobody")
            #expect(found?.username == "alice")
        }
    }

    @Test("a claims challenge is answered silently if possible, otherwise by the user")
    func challenge() async throws {
        try await withTestBed { bed in
            let scene = try await GuideScene.make(in: bed, .entra())
            let app = try scene.app(authority: scene.provider.authority("common"))
            let first = try await app.acquireTokenInteractively()
            let wanted = #"{"access_token":{"polids":{"essential":true,"values":["one"]}}}"#
            let silent = try await app.acquireToken(meeting: wanted, for: first.account)
            #expect(!silent.isFromCache && silent.accessToken != first.accessToken)
            #expect(!scene.provider.log.contains { $0.endpoint == .authorize && $0.claims != nil })

            let other = #"{"access_token":{"polids":{"essential":true,"values":["two"]}}}"#
            try scene.provider.requireClaims(other)
            let asked = try await app.acquireToken(meeting: wanted, for: first.account)
            #expect(asked.account.identifier == first.account.identifier)
            #expect(scene.provider.log.contains { $0.endpoint == .authorize && $0.claims?.contains("two") == true })
        }
    }

    @Test("an app with several accounts lists those of a tenant, including signed-out ones")
    func severalAccounts() async throws {
        try await withTestBed { bed in
            let scene = try await GuideScene.make(in: bed, .entra())
            let app = try scene.app(authority: scene.provider.authority("common"))
            let alice = try await app.acquireTokenInteractively().account
            let tenant = try #require(alice.tenantId)
            #expect(try await app.accounts(inTenant: tenant) == [alice.username])
            try await app.signOut()
            #expect(try await app.accounts(inTenant: tenant) == ["\(alice.username) (signed out)"])
            #expect(try await app.accounts(inTenant: "another").isEmpty)
        }
    }

    @Test("the device mode comes from the administrator's setting")
    func device() async throws {
        try await withTestBed { bed in
            let scene = try await GuideScene.make(in: bed)
            #expect(try await scene.app().deviceMode() == "private")
        }
    }

    @Test("a follower of the accounts sees the sign-out, and the next sign-in asks for the password")
    func signOut() async throws {
        try await withTestBed { bed in
            let scene = try await GuideScene.make(in: bed)
            let app = try scene.app()
            _ = try await app.acquireTokenInteractively()
            let follower = try scene.app()
            async let following: Void = follower.followAccounts()
            // The sign-out follows the subscription: an earlier one would leave the follower waiting.
            try await eventually("the follower sees a sign-out") {
                if app.currentAccount == nil { _ = try await app.acquireTokenInteractively() }
                try await app.signOut()
                return !follower.log.isEmpty
            }
            try await following
            #expect(follower.log == ["alice is signed out."])
            #expect(app.log.isEmpty)
            #expect(try await app.loadCurrentAccount() == nil)
        }
    }

    @Test("a user signs in on another device over ssh")
    func deviceCode() async throws {
        try await withTestBed { bed in
            let scene = try await GuideScene.make(in: bed)
            let app = try scene.app()
            let provider = scene.provider
            app.show = { provider.decideDevice($0.userCode, approvedBy: "alice") }
            #expect(try await app.acquireTokenOverSSH().account.username == "alice")
        }
    }
}

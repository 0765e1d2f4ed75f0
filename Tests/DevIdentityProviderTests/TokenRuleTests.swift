import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("The development provider's token endpoint")
struct TokenRuleTests {
    @Test("a second use of a code revokes the tokens of the first use")
    func reusedCode() async throws {
        try await withProvider { scene async throws in
            let redirect = try await scene.visit(ProviderScene.everything)
            let answer = try #require(try await scene.client.redeem(redirect).json().objectValue)
            let access = answer["access_token"]?.stringValue
            #expect(try await scene.userInfoStatus(access) == 200)
            #expect(try await scene.client.redeem(redirect).oauthError == "invalid_grant")
            #expect(try await scene.userInfoStatus(access) == 401)
            #expect(try await scene.refresh(answer["refresh_token"]?.stringValue).oauthError == "invalid_grant")
        }
    }

    @Test("a code is valid for its client, its redirect URI and its lifetime")
    func codeBinding() async throws {
        try await withProvider { scene async throws in
            var redirect = try await scene.visit()
            let fields = [
                "grant_type": "authorization_code", "client_id": "demo-one", "code": redirect["code"] ?? "",
                "redirect_uri": scene.client.redirectURI,
                "code_verifier": "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
            ]
            for change in [["client_id": "demo-two"], ["redirect_uri": "http://127.0.0.1:10/callback"]] {
                let reply = try await scene.ask("/token", fields.merging(change) { $1 })
                #expect(reply.oauthError == "invalid_grant")
            }
            #expect(try await scene.ask("/token", fields).status == 200)

            redirect = try await scene.visit()
            scene.provider.advanceClock(by: TokenPolicy().codeLifetime)
            #expect(try await scene.client.redeem(redirect).oauthError == "invalid_grant")
        }
    }

    @Test("a code is consumed by an attempt without a verifier")
    func missingVerifier() async throws {
        try await withProvider { scene async throws in
            let redirect = try await scene.visit()
            let reply = try await scene.ask(
                "/token",
                [
                    "grant_type": "authorization_code", "client_id": "demo-one", "code": redirect["code"] ?? "",
                    "redirect_uri": scene.client.redirectURI,
                ])
            #expect(reply.oauthError == "invalid_grant")
            #expect(try await scene.client.redeem(redirect).oauthError == "invalid_grant")
        }
    }

    @Test("a refresh may narrow the scope for one token, never widen it")
    func scopes() async throws {
        try await withProvider { scene async throws in
            let first = try await scene.tokens()
            let narrow = try await scene.refresh(first["refresh_token"]?.stringValue, ["scope": "notes.read"])
            let second = try #require(try narrow.json().objectValue)
            #expect(second["scope"] == "notes.read")
            #expect(second["id_token"] == nil)
            let token = second["refresh_token"]?.stringValue
            #expect(try await scene.refresh(token, ["scope": "notes.write"]).oauthError == "invalid_scope")
            // The refused request has not consumed the token, and the grant is unchanged.
            let third = try await scene.refresh(token).json().objectValue
            #expect(third?["scope"]?.stringValue == ProviderScene.everything["scope"])
        }
    }

    @Test("an ID token after a refresh keeps user and time, and has no nonce")
    func refreshedIDToken() async throws {
        try await withProvider { scene async throws in
            let answer = try await scene.tokens()
            let first = try claims(of: answer["id_token"]?.stringValue)
            scene.provider.advanceClock(by: 50)
            let refreshed = try await scene.refresh(answer["refresh_token"]?.stringValue).json().objectValue
            let second = try claims(of: refreshed?["id_token"]?.stringValue)
            #expect(first["nonce"] == "nonce-1")
            #expect(second["nonce"] == nil)
            for name in ["iss", "sub", "aud", "auth_time", "sid"] { #expect(first[name] == second[name]) }
            #expect(try #require(second["iat"]?.integerValue) - #require(first["iat"]?.integerValue) >= 50)
        }
    }

    @Test("access and refresh tokens have the configured lifetimes, by the provider's clock")
    func expiry() async throws {
        let shorten = { (options: inout ProviderOptions) in
            options.policy.accessTokenLifetime = 100
            options.policy.refreshTokenLifetime = 1000
        }
        try await withProvider(shorten) { scene async throws in
            let answer = try await scene.tokens()
            let access = answer["access_token"]?.stringValue
            #expect(answer["expires_in"] == 100)
            #expect(try await scene.userInfoStatus(access) == 200)
            scene.provider.advanceClock(by: 100)
            #expect(try await scene.userInfoStatus(access) == 401)
            scene.provider.advanceClock(by: 900)
            #expect(try await scene.refresh(answer["refresh_token"]?.stringValue).oauthError == "invalid_grant")
        }
    }

    @Test("without rotation no new refresh token is issued, and the old one stays valid")
    func noRotation() async throws {
        try await withProvider({ $0.policy.rotatesRefreshTokens = false }) { scene async throws in
            let token = try await scene.tokens()["refresh_token"]?.stringValue
            for _ in 0..<2 {
                let reply = try await scene.refresh(token)
                #expect(reply.status == 200)
                #expect(try reply.json().objectValue?["refresh_token"] == nil)
            }
        }
    }

    @Test("a confidential client authenticates in one way, by header or by form")
    func confidentialClient() async throws {
        try await withProvider { scene async throws in
            let token = ["grant_type": "refresh_token", "refresh_token": "unknown"]
            func basic(_ text: String) -> [String: String] {
                ["Authorization": "Basic \(Data(text.utf8).base64EncodedString())"]
            }
            let form = token.merging(["client_id": "demo-confidential"]) { $1 }
            let good = basic("demo-confidential:demo-secret-1")

            let bare = try await scene.ask("/token", form)
            #expect(bare.status == 401 && bare.oauthError == "invalid_client")
            let wrong = try await scene.ask("/token", token, headers: basic("demo-confidential:wrong"))
            #expect(wrong.status == 401 && wrong.oauthError == "invalid_client")
            #expect(wrong.header("www-authenticate")?.hasPrefix("Basic") == true)
            // After authentication, the token itself is what is wrong.
            let posted = try await scene.ask("/token", form.merging(["client_secret": "demo-secret-1"]) { $1 })
            #expect(posted.oauthError == "invalid_grant")
            #expect(try await scene.ask("/token", token, headers: good).oauthError == "invalid_grant")
            let both = token.merging(["client_secret": "demo-secret-1"]) { $1 }
            #expect(try await scene.ask("/token", both, headers: good).oauthError == "invalid_request")
            let other = token.merging(["client_id": "demo-one"]) { $1 }
            #expect(try await scene.ask("/token", other, headers: good).oauthError == "invalid_request")
        }
    }

    @Test("revocation ends the family, for its own client only")
    func revocation() async throws {
        try await withProvider { scene async throws in
            let answer = try await scene.tokens()
            let refresh = answer["refresh_token"]?.stringValue ?? ""
            let access = answer["access_token"]?.stringValue
            let theft = try await scene.ask("/revoke", ["client_id": "demo-two", "token": refresh])
            #expect(theft.oauthError == "unauthorized_client")
            #expect(try await scene.userInfoStatus(access) == 200)
            #expect(try await scene.ask("/revoke", ["client_id": "demo-one", "token": "unknown"]).status == 200)
            #expect(try await scene.ask("/revoke", ["client_id": "demo-one", "token": refresh]).status == 200)
            #expect(try await scene.userInfoStatus(access) == 401)
            #expect(try await scene.refresh(refresh).oauthError == "invalid_grant")
        }
    }

    @Test("the issuer may have a path, and access tokens may be JWTs")
    func issuerPath() async throws {
        let change = { (options: inout ProviderOptions) in
            options.issuerPath = "/o"
            options.accessTokenFormat = .jwt
            options.idTokenAlgorithm = .es256
        }
        try await withProvider(change) { scene async throws in
            let origin = "http://127.0.0.1:\(scene.provider.port)"
            #expect(scene.provider.issuer == origin + "/o")
            let openID = try await scene.browser.get(origin + "/o/.well-known/openid-configuration")
            let oauth = try await scene.browser.get(origin + "/.well-known/oauth-authorization-server/o")
            #expect(try openID.json().objectValue?["issuer"]?.stringValue == origin + "/o")
            #expect(openID.body == oauth.body)
            #expect(try await scene.browser.get(origin + "/jwks").status == 404)

            let answer = try await scene.tokens()
            let access = answer["access_token"]?.stringValue
            #expect(try claims(of: access)["client_id"] == "demo-one")
            #expect(try claims(of: answer["id_token"]?.stringValue)["iss"]?.stringValue == origin + "/o")
            #expect(try await scene.userInfoStatus(access) == 200)
        }
    }
}

import BrokerModel
import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("Browser sessions at the development provider")
struct SessionTests {
    @Test("after a sign-in, the same browser gets a code without a form, another browser does not")
    func singleSignOn() async throws {
        try await withProvider { scene async throws in
            _ = try await scene.visit()
            #expect(try await scene.visit(["prompt": "none"])["code"] != nil)
            let stranger = try await scene.visit(["prompt": "none"], browser: HTTPSession(in: scene.bed))
            #expect(stranger["error"] == "login_required")
        }
    }

    @Test("prompt=login, and an exceeded max_age, ask for the password again")
    func freshLogin() async throws {
        try await withProvider { scene async throws in
            let first = try claims(of: try await scene.tokens()["id_token"]?.stringValue)
            #expect(try await scene.knock(["prompt": "login"]).text.contains("type=\"password\""))
            scene.provider.advanceClock(by: 100)
            #expect(try await scene.visit(["prompt": "none", "max_age": "200"])["code"] != nil)
            #expect(try await scene.visit(["prompt": "none", "max_age": "50"])["error"] == "login_required")
            let answer = try await scene.tokens(["scope": "openid", "max_age": "50"])
            let second = try claims(of: answer["id_token"]?.stringValue)
            let times = try [first, second].map { try #require($0["auth_time"]?.integerValue) }
            #expect(times[1] - times[0] >= 100)
        }
    }

    @Test("a hint at a person who is not signed in never yields the one who is")
    func hints() async throws {
        try await withProvider { scene async throws in
            let alice = try await scene.tokens()
            let hint = try #require(alice["id_token"]?.stringValue)
            #expect(try await scene.visit(["prompt": "none", "login_hint": "bob"])["error"] == "login_required")
            #expect(try await scene.visit(["prompt": "none", "login_hint": "alice@example.test"])["code"] != nil)
            #expect(try await scene.visit(["prompt": "none", "id_token_hint": hint])["code"] != nil)
            // Bob types his password, but Alice was requested.
            let other = try await scene.visit(["prompt": "login", "id_token_hint": hint], as: .bob)
            #expect(other["error"] == "login_required")
        }
    }

    @Test("a hint counts only with a valid signature of a current key", arguments: SigningAlgorithm.allCases)
    func signedHints(algorithm: SigningAlgorithm) async throws {
        try await withProvider({ $0.idTokenAlgorithm = algorithm }) { scene async throws in
            let hint = try #require(try await scene.tokens()["id_token"]?.stringValue)
            func answer(_ hint: String) async throws -> ProviderRedirect {
                try await scene.visit(["prompt": "none", "id_token_hint": hint])
            }
            #expect(try await answer(hint)["code"] != nil)
            let later = try #require(try await scene.tokens()["id_token"]?.stringValue)
            let (parts, others) = (hint.split(separator: "."), later.split(separator: "."))
            var header = try JSONDecoder().decode(
                [String: String].self, from: Data(try #require(Base64URL.decode(parts[0].utf8))))
            header["alg"] = "none"
            let unsigned = Base64URL.encode(try JSONEncoder().encode(header))
            for forged in [
                "\(parts[0]).\(parts[1]).\(others[2])", "\(parts[0]).\(parts[1]).", "\(parts[0]).\(parts[1])",
                "\(unsigned).\(parts[1]).", "\(unsigned).\(parts[1]).\(parts[2])",
            ] {
                #expect(try await answer(forged)["error"] == "invalid_request", "\(forged)")
            }
            try scene.provider.rotateKeys()
            #expect(try await answer(hint)["error"] == "invalid_request")
        }
    }

    @Test("with two accounts the chooser asks, and prompt=none fails")
    func chooser() async throws {
        try await withProvider { scene async throws in
            _ = try await scene.visit()
            _ = try await scene.visit(["login_hint": "bob"], as: .bob)
            #expect(try await scene.visit(["prompt": "none"])["error"] == "account_selection_required")
            let page = try await scene.knock(["prompt": "select_account"])
            #expect(page.text.contains("Alice Example") && page.text.contains("Bob Example"))
            let transaction = try #require(page.text.firstMatch(of: /name="transaction" value="([^"]+)"/)?.1)
            let chosen = try await scene.browser.send(
                "POST", scene.provider.issuer + "/choose",
                body: .form([(name: "transaction", value: String(transaction)), (name: "account", value: "alice")]))
            let answer = try await scene.client.redeem(try #require(chosen.redirect)).json().objectValue
            #expect(try claims(of: answer?["id_token"]?.stringValue)["preferred_username"] == "alice")
        }
    }

    @Test("a wrong password shows the form again, and another browser cannot finish the sign-in")
    func forms() async throws {
        try await withProvider { scene async throws in
            let page = try await scene.knock()
            let transaction = try #require(page.text.firstMatch(of: /name="transaction" value="([^"]+)"/)?.1)
            func post(_ password: String, from browser: HTTPSession) async throws -> HTTPReply {
                try await browser.send(
                    "POST", scene.provider.issuer + "/login",
                    body: .form([
                        (name: "transaction", value: String(transaction)), (name: "username", value: "alice"),
                        (name: "password", value: password),
                    ]))
            }
            let wrong = try await post("alice-pw-2", from: scene.browser)
            #expect(wrong.header("location") == nil)
            #expect(wrong.text.contains("role=\"alert\""))
            #expect(try await post("alice-pw-1", from: HTTPSession(in: scene.bed)).status == 400)
            #expect(try await post("alice-pw-1", from: scene.browser).redirect?["code"] != nil)
            #expect(try await post("alice-pw-1", from: scene.browser).status == 400)
        }
    }

    @Test("typing the password changes the cookie, so a planted one has no effect")
    func fixation() async throws {
        try await withProvider { scene async throws in
            let planted = try #require(try await scene.knock().header("set-cookie")?.split(separator: ";").first)
            _ = try await scene.visit()
            let url = scene.client.authorizationURL(["prompt": "none"])
            let thief = try await HTTPSession(in: scene.bed).send("GET", url, headers: ["Cookie": String(planted)])
            #expect(thief.redirect?["error"] == "login_required")
        }
    }

    @Test("consent is asked once, can be narrower, and can be denied")
    func consent() async throws {
        try await withProvider({ $0.asksConsent = true }) { scene async throws in
            let denied = try await withoutConsent(scene)
            #expect(denied["error"] == "access_denied")
            #expect(try await scene.visit(["prompt": "none"])["error"] == "consent_required")
            #expect(try await scene.visit()["code"] != nil)
            #expect(try await scene.visit(["prompt": "none"])["code"] != nil)
            let wider = ["scope": "openid profile notes.write", "prompt": "none"]
            #expect(try await scene.visit(wider)["error"] == "consent_required")
        }
    }

    private func withoutConsent(_ scene: ProviderScene) async throws -> ProviderRedirect {
        let browser = FormBrowser(session: scene.browser, home: scene.provider.issuer)
        return try await browser.visit(scene.client.authorizationURL()) { form in
            guard form.fields["password"] != nil else { return form.fields["decision"] = "deny" }
            form.fields["username"] = "alice"
            form.fields["password"] = "alice-pw-1"
        }
    }

    @Test("a scope that is never granted is missing from the response")
    func declinedScope() async throws {
        try await withProvider({ $0.declinedScopes = ["notes.write"] }) { scene async throws in
            let answer = try await scene.tokens(["scope": "openid notes.read notes.write"])
            #expect(answer["scope"] == "openid notes.read")
        }
    }

    @Test("a sign-out with a hint ends the session and returns, without one it asks first")
    func signOut() async throws {
        try await withProvider { scene async throws in
            let hint = try #require(try await scene.tokens()["id_token"]?.stringValue)
            let end = scene.provider.issuer + "/logout?client_id=demo-one&state=bye&post_logout_redirect_uri="
            let question = try await scene.browser.get(end + "http://127.0.0.1:7/signed-out".urlEncoded)
            #expect(question.status == 200)
            #expect(try await scene.visit(["prompt": "none"])["code"] != nil)

            let elsewhere = try await scene.browser.get(end + "https://evil.example/".urlEncoded)
            #expect(elsewhere.status == 400)
            #expect(elsewhere.header("location") == nil)

            let done = try await scene.browser.get(
                end + "http://127.0.0.1:7/signed-out".urlEncoded + "&id_token_hint=\(hint)")
            #expect(done.header("location") == "http://127.0.0.1:7/signed-out?state=bye")
            #expect(try await scene.visit(["prompt": "none"])["error"] == "login_required")
        }
    }

    @Test("a sign-out ends the refresh tokens of that browser, if so configured", arguments: [false, true])
    func signOutEndsRefreshTokens(_ ends: Bool) async throws {
        try await withProvider({ $0.policy.logoutEndsRefreshTokens = ends }) { scene async throws in
            let answer = try await scene.tokens()
            let hint = try #require(answer["id_token"]?.stringValue)
            _ = try await scene.browser.get(scene.provider.issuer + "/logout?id_token_hint=\(hint)")
            #expect(try await scene.refresh(answer["refresh_token"]?.stringValue).status == (ends ? 400 : 200))
        }
    }
}

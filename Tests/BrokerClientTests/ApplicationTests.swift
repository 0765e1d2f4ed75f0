import BrokerClient
import BrokerTestSupport
import Foundation
import Testing

@Suite("The application object")
struct ApplicationTests {
    @Test("a blank name or client id is an error, as with MSAL", arguments: ["", "  ", "\t"])
    func blank(_ text: String) async {
        func code(_ configuration: PublicClientApplicationConfig) async -> BrokerClientError.Code? {
            await failure { () async throws(BrokerClientError) in
                try PublicClientApplication(configuration: configuration)
            }?.code
        }
        #expect(await code(PublicClientApplicationConfig(app: text)) == .invalidParameter)
        #expect(await code(PublicClientApplicationConfig(clientId: text)) == .invalidParameter)
        #expect(await code(PublicClientApplicationConfig(clientId: "c", authority: text)) == .invalidParameter)
        #expect(await code(PublicClientApplicationConfig(clientId: "c")) == nil)
    }

    @Test(
        "an invalid authority is an error when the application is created",
        arguments: ["id.example.org", "https://", "https:///tenant", "ftp://id.example.org", "https://a b"])
    func unusableAuthority(_ text: String) async {
        let error = await failure { () async throws(BrokerClientError) in
            try PublicClientApplication(configuration: PublicClientApplicationConfig(clientId: "c", authority: text))
        }
        #expect(error?.code == .invalidAuthority)
        #expect(error?.message.contains(text) == true)
    }

    @Test("an authority in capitals is accepted by the library")
    func authorityInCapitals() throws {
        _ = try PublicClientApplication(
            configuration: PublicClientApplicationConfig(clientId: "c", authority: "HTTPS://ID.example.org/x"))
    }

    @Test("an error has all of the broker's details, and Foundation shows its message")
    func errors() async throws {
        let broker = try ScriptedBroker { peer in
            guard let request = peer.request() else { return }
            peer.fail(
                request, "interactionRequired", message: "Sign in.",
                more: #","correlationId":"c-9","reason":"claimsChallenge","oauthError":"interaction_required","#
                    + #""subError":"basic_action","description":"AADSTS50076","claims":"{\"access_token\":{}}","#
                    + #""httpStatus":400,"retryAfter":7,"grantedScopes":["a"],"declinedScopes":["b"],"#
                    + #""accounts":[\#(ScriptedAnswers.account())]"#)
            peer.waitForEnd()
        }
        let application = try application(broker)
        let error = try #require(
            await failure { () async throws(BrokerClientError) in
                try await application.acquireTokenSilent(with: SilentTokenParameters(scopes: ["email"]))
            })
        #expect(error.code == .interactionRequired && error.reason == "claimsChallenge")
        #expect(error.claimsChallenge == #"{"access_token":{}}"#)
        #expect(error.correlationId == "c-9" && error.oauthError == "interaction_required")
        #expect(error.subError == "basic_action" && error.oauthErrorDescription == "AADSTS50076")
        #expect(error.httpStatus == 400 && error.retryAfter == 7 && !error.isRetryable)
        #expect(error.grantedScopes == ["a"] && error.declinedScopes == ["b"])
        #expect(error.account?.identifier == "acc-1")
        #expect((error as any Error).localizedDescription == "Sign in.")
    }

    @Test("accounts are filtered by the parameters, with signed-out ones on request")
    func enumeration() async throws {
        let accounts = [
            ScriptedAnswers.account(),
            ScriptedAnswers.account(id: "acc-2", username: "bob@example.org", signedIn: false),
        ]
        let broker = try ScriptedBroker.answering { _ in #"{"accounts":[\#(accounts.joined(separator: ","))]}"# }
        let application = try application(broker)
        func found(_ parameters: AccountEnumerationParameters) async throws -> [String] {
            try await application.accounts(for: parameters).map(\.identifier)
        }
        var everybody = AccountEnumerationParameters()
        everybody.returnOnlySignedInAccounts = false
        #expect(try await found(everybody) == ["acc-1", "acc-2"])
        #expect(try await found(AccountEnumerationParameters(identifier: "acc-2")) == ["acc-2"])
        #expect(broker.requests.map(\.params) == [#"{"app":"mail","includeSignedOut":true}"#, #"{"app":"mail"}"#])
        #expect(try await found(AccountEnumerationParameters(username: "ADA@example.org")) == ["acc-1"])
        #expect(try await found(AccountEnumerationParameters(tenantId: "t-1")) == ["acc-1", "acc-2"])
        #expect(try await found(AccountEnumerationParameters(tenantId: "t-2")).isEmpty)
        #expect(try await found(AccountEnumerationParameters(identifier: "acc-1", username: "bob@example.org")).isEmpty)
    }

    @Test("a silent request has the app's parameters, and the result the broker's values")
    func silent() async throws {
        let broker = try ScriptedBroker.answering {
            $0.method == "accounts.get" ? #"{"account":\#(ScriptedAnswers.account())}"# : ScriptedAnswers.token()
        }
        var configuration = PublicClientApplicationConfig(app: "mail")
        configuration.socketPath = broker.path
        configuration.tokenExpirationBuffer = 120
        let application = try PublicClientApplication(configuration: configuration)
        let account = try #require(try await application.account(forUsername: "ADA@example.org"))
        let lookup = #"{"account":{"username":"ADA@example.org"},"app":"mail"}"#

        var parameters = SilentTokenParameters(scopes: ["email"], account: account)
        parameters.forceRefresh = true
        parameters.authority = "https://other.example.org"
        let result = try await application.acquireTokenSilent(with: parameters)
        // Several clouds are off by default, which leaves the choice to the registration.
        let expected =
            #"{"account":{"id":"acc-1"},"app":"mail","authority":"https:\/\/other.example.org","forceRefresh":true,"#
            + #""minimumLifetime":120,"scopes":["email"]}"#
        #expect(broker.requests.map(\.params) == [lookup, expected])

        #expect(result.accessToken == "AT-1")
        #expect(result.authorizationHeader == "Bearer AT-1")
        #expect(result.expiresOn == Date(timeIntervalSince1970: 1_900_000_000))
        #expect(result.scopes == ["email", "openid"])
        #expect(result.idToken == "ID-1")
        #expect(result.isFromCache && result.isPersisted && !result.isExtendedLifetime)
        #expect(result.account == account)
        #expect(result.tenantProfile.tenantId == "t-1")
        let claims = result.tenantProfile.claims
        #expect(claims.names == ["admin", "age", "email", "height", "roles"])
        #expect(claims.string("email") == "ada@example.org")
        #expect(claims["age"] == .integer(36))
        #expect(claims["height"] == .number(1.7))
        #expect(claims["admin"] == .bool(false))
        #expect(claims["roles"] == .array([.string("reader"), .integer(7), .null]))
        #expect(claims.string("age") == nil)
    }

    @Test("accounts are listed, looked up and removed for the app")
    func accounts() async throws {
        let broker = try ScriptedBroker.answering { request in
            switch request.method {
            case "accounts.list": #"{"accounts":[\#(ScriptedAnswers.account(name: nil))]}"#
            case "accounts.get": #"{"account":null}"#
            default: #"{"removed":2}"#
            }
        }
        let application = try application(broker)
        let all = try await application.allAccounts()
        #expect(all.map(\.identifier) == ["acc-1"])
        #expect(all.first?.name == nil)
        #expect(try await application.account(forIdentifier: "acc-2") == nil)
        try await application.remove(try #require(all.first))
        #expect(
            broker.requests.map(\.description) == [
                #"accounts.list {"app":"mail"}"#, #"accounts.get {"account":{"id":"acc-2"},"app":"mail"}"#,
                #"accounts.remove {"account":{"id":"acc-1"},"app":"mail"}"#,
            ])
    }

    @Test("printing, interpolating and dumping a result shows no token")
    func redacted() async throws {
        let broker = try ScriptedBroker.answering { _ in ScriptedAnswers.token("VERY-SECRET") }
        let result = try await application(broker).acquireTokenSilent(with: SilentTokenParameters(scopes: ["email"]))
        #expect(result.accessToken == "VERY-SECRET")
        var dumped = ""
        dump(result, to: &dumped)
        for text in ["\(result)", String(reflecting: result), String(describing: Optional(result)), dumped] {
            #expect(!text.contains("VERY-SECRET"))
            #expect(!text.contains("ID-1"))
        }
    }

    @Test("an unknown error code is passed on by its name")
    func openCodes() {
        #expect(BrokerClientError.Code(rawValue: "interactionRequired") == .interactionRequired)
        #expect(BrokerClientError.Code(rawValue: "somethingNew") != .internal)
    }
}

import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation

/// A provider in this process, with one browser and one client that use it over HTTP.
struct ProviderScene {
    let provider: RunningProvider
    let client: PlainClient
    let bed: TestBed
    /// The person's browser: it keeps its cookies between visits.
    let browser: HTTPSession

    static let everything = ["scope": "openid profile notes.read offline_access"]

    /// Visits the authorization endpoint and signs in if a form asks for it.
    func visit(
        _ more: [String: String] = [:], as person: Person = .alice, browser: HTTPSession? = nil
    ) async throws -> ProviderRedirect {
        let home = "http://127.0.0.1:\(provider.port)"
        let visitor = FormBrowser(session: browser ?? self.browser, home: home)
        return try await visitor.visit(client.authorizationURL(more)) { form in
            guard form.fields["password"] != nil else { return form.press(named: "decision") }
            form.fields["username"] = person.name
            form.fields["password"] = person.password
        }
    }

    /// The page or redirect in response to an authorization request, with no form filled in.
    func knock(_ more: [String: String] = [:]) async throws -> HTTPReply {
        try await browser.get(client.authorizationURL(more))
    }

    func tokens(_ more: [String: String] = ProviderScene.everything) async throws -> JSONObject {
        try await client.redeem(try await visit(more)).json().objectValue ?? [:]
    }

    func ask(
        _ endpoint: String, _ fields: [String: String], headers: [String: String] = [:]
    ) async throws -> HTTPReply {
        let form = fields.map { (name: $0.key, value: $0.value) }
        return try await client.http.send("POST", provider.issuer + endpoint, body: .form(form), headers: headers)
    }

    func refresh(_ token: String?, _ more: [String: String] = [:]) async throws -> HTTPReply {
        let fields = ["grant_type": "refresh_token", "client_id": client.clientID, "refresh_token": token ?? ""]
        return try await ask("/token", fields.merging(more) { $1 })
    }

    func userInfoStatus(_ token: String?) async throws -> Int {
        try await client.http.send(
            "GET", provider.issuer + "/userinfo", headers: ["Authorization": "Bearer \(token ?? "")"]
        ).status
    }
}

func withProvider(
    client: String = "demo-one", _ change: (inout ProviderOptions) -> Void = { _ in },
    _ body: (ProviderScene) async throws -> Void
) async throws {
    var options = ProviderOptions()
    change(&options)
    let chosen = options
    try await withTestBed { bed in
        let provider = try await DevIdentityProvider.start(chosen)
        bed.atEnd { await provider.stop() }
        let client = try await PlainClient(
            client, authority: provider.issuer, redirectURI: "http://127.0.0.1:9/callback",
            http: HTTPSession(in: bed))
        try await body(
            ProviderScene(provider: provider, client: client, bed: bed, browser: HTTPSession(in: bed)))
    }
}

extension HTTPReply {
    /// The code of an OAuth error response.
    var oauthError: String? { try? json().objectValue?["error"]?.stringValue }

    var redirect: ProviderRedirect? { header("location").map { ProviderRedirect(url: $0) } }
}

import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

/// A public client that names another issuer of its host for one request: `bad`, whose page sends the browser on to `good`.
@Suite("Two issuers of one host")
struct NeighborSignInTests {
    private static let bad = Sample.authority("https://id.example/realms/bad")

    private func app(_ redirectURI: String? = nil) -> AppRegistration {
        var app = Sample.app()
        app.authority = Sample.authority("https://id.example/realms/good")
        app.redirectURI = redirectURI
        return app
    }

    @Test(
        "an answer of the app's own issuer is not accepted for the other, which has another redirect path",
        arguments: [
            nil, "http://127.0.0.1/", "http://127.0.0.1/back", "http://127.0.0.1/realms/bad",
            "http://localhost:7070/back",
        ])
    func ownPath(registered: String?) async throws {
        let bed = try await EngineBed()
        func redirectURI(at authority: Authority?) async throws -> String {
            let (browser, signIn) = bed.begin(bed.interactive(app(registered)) { $0.authority = authority })
            let page = try await bed.redirects.visit(browser.opening(), code: "ada")
            try #require(page == .signedIn(username: "ada", app: "mail"), "\(String(describing: page))")
            _ = try await signIn.value
            return try #require(bed.provider.authorizations.last?.redirectURI)
        }
        func path(_ uri: String) throws -> String { try #require(WebURL(uri)).path }
        let own = try path(try await redirectURI(at: nil))
        let other = try path(try await redirectURI(at: Self.bad))
        #expect(other.hasSuffix("/realms/bad") && other != own, "\(own) \(other)")
    }

    @Test(
        "an app with a custom scheme must name a redirect URI to use the other issuer"
    )
    func scheme() async throws {
        let bed = try await EngineBed()
        let app = app("com.example.app:/back")
        let error = await #expect(throws: BrokerError.self) {
            try await bed.engine.acquireInteractive(bed.interactive(app) { $0.authority = Self.bad }) { _ in
                Issue.record("nothing may be opened")
            }
        }
        #expect(error?.kind == .invalidAuthority && error?.message.contains("/realms/bad") == true)
        #expect(bed.provider.authorizations.isEmpty)
        let named = "com.example.app:/back/realms/bad"
        #expect(
            try IssuerRedirect.uri(asked: named, of: app, at: try await bed.provider.metadata(of: Self.bad)) == named)
    }

    @Test("an issuer that promises to name itself uses the app's usual redirect URI")
    func promised() async throws {
        let bed = try await EngineBed()
        var metadata = try await bed.provider.metadata(of: Self.bad)
        #expect(
            try IssuerRedirect.uri(asked: nil, of: app("http://127.0.0.1/back"), at: metadata)
                != "http://127.0.0.1/back")
        metadata.promisesIssuerInResponse = true
        #expect(
            try IssuerRedirect.uri(asked: nil, of: app("http://127.0.0.1/back"), at: metadata)
                == "http://127.0.0.1/back")
    }
}

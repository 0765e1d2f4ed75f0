import Foundation

/// A separate LemonLDAP::NG for a test: opaque access tokens, refresh tokens that stay the same, RS256, exact redirect URIs,
/// `invalid_request` for a dead refresh token, and `offline_access` only for requests with consent.
/// `Fixtures/lemonldap-provider.psgi` is the provider.
package struct LemonLDAPProvider: Sendable {
    /// The issuer.
    package let authority: String
    /// The secret of all clients.
    package let redirectURI: String
    package let process: ManagedProcess
    private let bed: TestBed
    private let folder: String

    package let clientID = "native"
    package let confidentialClientID = "web"
    package let clientSecret = "web-secret"
    /// Its refresh tokens are issued with `offline_access` only.
    package let offlineClientID = "offline"

    package static func start(in bed: TestBed) async throws -> LemonLDAPProvider {
        try Prerequisite.lemonLDAP.require()
        let (port, redirectPort) = (try FreePort.next(), try FreePort.next())
        let redirectURI = "http://127.0.0.1:\(redirectPort)/callback"
        let folder = try bed.makeDirectory("lemonldap")
        var launch = Launch(
            "plackup", ["--host", "127.0.0.1", "--port", "\(port)", PackageTree.fixture("lemonldap-provider.psgi")])
        launch.environment["LLNG_FOLDER"] = folder
        launch.environment["LLNG_PORT"] = "\(port)"
        launch.environment["LLNG_REDIRECT"] = redirectURI
        let process = try bed.start(launch, as: "lemonldap-provider")
        try await process.waitForText("Accepting connections")
        return LemonLDAPProvider(
            authority: "http://127.0.0.1:\(port)", redirectURI: redirectURI, process: process, bed: bed, folder: folder)
    }

    /// Follows an authorization request: name and password, and consent or refusal, on a page each.
    package func signIn(
        _ person: Person, at url: String, consents: Bool = true, session: HTTPSession? = nil
    ) async throws -> ProviderRedirect {
        let browser = FormBrowser(session: session ?? HTTPSession(in: bed), home: authority)
        return try await browser.visit(url) { form in
            if form.fields["user"] != nil {
                form.fields["user"] = person.name
                form.fields["password"] = person.name
            } else if !consents, let confirm = form.fields["confirm"] {
                form.fields["confirm"] = "-" + confirm
            }
        }
    }

    /// Ends all sessions, refresh tokens included, like an administrator.
    package func endSessions() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder + "/sessions") {
            try FileManager.default.removeItem(atPath: folder + "/sessions/" + name)
        }
    }

    /// The number of requests of this method and path that it has answered.
    package func requestCount(_ method: String, _ path: String) -> Int {
        process.errorText.split(separator: "\n").count { $0.contains("\"\(method) \(path) ") }
    }
}

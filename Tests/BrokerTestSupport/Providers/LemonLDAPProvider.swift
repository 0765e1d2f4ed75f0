import Foundation

/// A LemonLDAP::NG of its own for a test: opaque access tokens, refresh tokens that stay the same, RS256, exact redirect URIs,
/// `invalid_request` for a dead refresh token, and `offline_access` for those only who asked with consent.
/// `Fixtures/lemonldap-provider.psgi` is the provider.
package struct LemonLDAPProvider: Sendable {
    /// The issuer.
    package let authority: String
    /// What all clients use.
    package let redirectURI: String
    package let process: ManagedProcess
    private let bed: TestBed
    private let folder: String

    package let clientID = "native"
    package let confidentialClientID = "web"
    package let clientSecret = "web-secret"
    /// Its refresh tokens come with `offline_access` only.
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

    /// Follows an authorization request: name and password, and whether the person agrees, on a page each.
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

    /// Ends all sessions, refresh tokens included, as an administrator does.
    package func endSessions() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder + "/sessions") {
            try FileManager.default.removeItem(atPath: folder + "/sessions/" + name)
        }
    }

    /// How many requests of this method and path it has answered.
    package func requestCount(_ method: String, _ path: String) -> Int {
        process.errorText.split(separator: "\n").count { $0.contains("\"\(method) \(path) ") }
    }
}

import Foundation

/// A separate Canaille for a test: redirect URIs compared exactly, `iss` in each response, opaque tokens, and
/// metadata without `offline_access`. `Fixtures/canaille-provider.py` is the provider.
package struct CanailleProvider: Sendable {
    /// The issuer.
    package let authority: String
    /// The scopes of both clients.
    package let redirectURI: String
    package let process: ManagedProcess
    private let bed: TestBed

    package let clientID = "native"
    package let confidentialClientID = "web"
    package let clientSecret = "web-secret"

    package static func start(in bed: TestBed) async throws -> CanailleProvider {
        let python = try await PythonEnvironment.shared.python(in: bed)
        let (port, redirectPort) = (try FreePort.next(), try FreePort.next())
        let redirectURI = "http://127.0.0.1:\(redirectPort)/callback"
        let arguments = [
            "-B", PackageTree.fixture("canaille-provider.py"), "--port", "\(port)", "--redirect-uri", redirectURI,
        ]
        let process = try bed.start(Launch(python, arguments), as: "canaille-provider")
        try await process.waitForText("ready")
        return CanailleProvider(
            authority: "http://127.0.0.1:\(port)", redirectURI: redirectURI, process: process, bed: bed)
    }

    /// The number of requests of this method and path that it has answered.
    package func requestCount(_ method: String, _ path: String) -> Int {
        process.outputText.split(separator: "\n").count { $0.hasPrefix("\(method) \(path) ") }
    }

    /// Follows an authorization request: name, password, and consent, on a page each.
    package func signIn(
        _ person: Person, at url: String, consents: Bool = true, session: HTTPSession? = nil
    ) async throws -> ProviderRedirect {
        let browser = FormBrowser(session: session ?? HTTPSession(in: bed), home: authority)
        return try await browser.visit(url) { form in
            if form.fields["login"] != nil {
                form.fields["login"] = person.name
            } else if form.fields["password"] != nil {
                form.fields["password"] = person.password
            } else {
                form.fields["answer"] = consents ? "accept" : "deny"
            }
        }
    }
}

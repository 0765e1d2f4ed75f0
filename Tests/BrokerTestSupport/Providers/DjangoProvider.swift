import CSQLite
import Foundation

/// A separate django-oauth-toolkit for a test: any port in loopback redirects, RS256, opaque access tokens, and a
/// grace time for used refresh tokens. `Fixtures/django-provider.py` is the provider.
package struct DjangoProvider: Sendable {
    /// The provider's settings; times are seconds.
    package struct Settings: Sendable {
        package var accessLifetime = 3600
        package var refreshLifetime = 1_209_600
        package var grace = 0
        package var rotates = true
        /// A reused refresh token ends the whole family.
        package var protectsReuse = true

        package init() {}
    }

    package let base: String
    package let process: ManagedProcess
    /// PEM of the authority that signed its certificate, if it uses TLS.
    package let caFile: String?
    private let bed: TestBed
    private let database: String

    package let clientID = "native"
    package let confidentialClientID = "web"
    package let clientSecret = "web-secret"
    /// The issuer.
    package var authority: String { "\(base)/o" }

    package static func start(
        in bed: TestBed, certificate: TestCertificate? = nil, _ change: (inout Settings) -> Void = { _ in }
    ) async throws -> DjangoProvider {
        var settings = Settings()
        change(&settings)
        let python = try await PythonEnvironment.shared.python(in: bed)
        let port = try FreePort.next()
        let directory = try bed.makeDirectory("django")
        var arguments = [
            "-B", PackageTree.fixture("django-provider.py"), "--port", "\(port)", "--directory", directory,
            "--access-lifetime", "\(settings.accessLifetime)",
            "--refresh-lifetime", "\(settings.refreshLifetime)", "--grace", "\(settings.grace)",
        ]
        if !settings.rotates { arguments.append("--no-rotation") }
        if !settings.protectsReuse { arguments.append("--no-reuse-protection") }
        if let certificate { arguments += ["--certificate", certificate.certificate, "--key", certificate.key] }
        let process = try bed.start(Launch(python, arguments), as: "django-provider")
        try await process.waitForText("ready")
        let base = "\(certificate == nil ? "http" : "https")://127.0.0.1:\(port)"
        return DjangoProvider(
            base: base, process: process, caFile: certificate?.authority, bed: bed,
            database: "\(directory)/django.sqlite")
    }

    package func stop() async { await process.stop() }

    /// The number of requests of this method and path that it has answered.
    package func requestCount(_ method: String, _ path: String) -> Int {
        process.outputText.split(separator: "\n").count { $0.hasPrefix("\(method) \(path) ") }
    }

    package var tokenRequests: Int { requestCount("POST", "/o/token/") }

    /// Follows an authorization request: signs in on the provider's page, and allows or denies the app's request on the
    /// next one. Without a person there must be no page at all.
    ///
    /// - Parameter session: a browser that keeps its cookies; by default a new one.
    package func signIn(
        _ person: Person?, at url: String, consents: Bool = true, session: HTTPSession? = nil
    ) async throws -> ProviderRedirect {
        let browser = FormBrowser(session: session ?? HTTPSession(in: bed, caFile: caFile), home: base)
        return try await browser.visit(url) { form in
            if form.fields["password"] != nil {
                guard let person else { throw ProcessFailure("The provider asks for a password.") }
                form.fields["username"] = person.name
                form.fields["password"] = person.password
            } else if consents {
                form.press(named: "allow")
            }
        }
    }

    /// Dates all users' last password entry back by a day; their sessions remain.
    package func ageSignIns() throws {
        var database: OpaquePointer?
        defer { sqlite3_close(database) }
        let script = "UPDATE auth_user SET last_login = datetime(last_login, '-1 day');"
        guard sqlite3_open_v2(self.database, &database, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK,
            sqlite3_busy_timeout(database, 10_000) == SQLITE_OK,
            sqlite3_exec(database, script, nil, nil, nil) == SQLITE_OK
        else {
            throw ProcessFailure("Django's database cannot be changed: \(String(cString: sqlite3_errmsg(database))).")
        }
    }

    /// Follows an end-session URL and confirms on the provider's page.
    package func signOut(at url: String, session: HTTPSession) async throws -> ProviderRedirect {
        try await FormBrowser(session: session, home: base).visit(url) { $0.press(named: "allow") }
    }
}

/// The virtual environment of the Python programs, made once for all test runs (`Fixtures/make-venv`).
package actor PythonEnvironment {
    package static let shared = PythonEnvironment()
    private var making: Task<String, any Error>?

    /// The path of its interpreter.
    package func python(in bed: TestBed) async throws -> String { try await program("python", in: bed) }

    /// The path of a program in a package.
    package func program(_ name: String, in bed: TestBed) async throws -> String {
        try await folder(in: bed) + "/bin/" + name
    }

    private func folder(in bed: TestBed) async throws -> String {
        if let making { return try await making.value }
        let task = Task {
            // It downloads packages: with the proxy and certificates that this machine needs for that.
            let launch = Launch(PackageTree.fixture("make-venv"), [], environment: ProcessInfo.processInfo.environment)
            let result = try await bed.run(launch)
            guard result.succeeded else {
                throw ProcessFailure("The Python environment cannot be made: \(result)")
            }
            return result.output.trimmingCharacters(in: .whitespacesAndNewlines)
        }
        making = task
        return try await task.value
    }
}

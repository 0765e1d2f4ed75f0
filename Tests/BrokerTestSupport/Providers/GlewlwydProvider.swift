import BrokerValues
import Foundation

/// A separate glewlwyd for a test: exact redirect URIs, ES256 ID tokens, single-use refresh tokens.
///
/// Users are ``Person/alice`` and ``Person/bob``; the client ``clientID`` is public, ``confidentialClientID`` has a
/// secret. A used refresh token gets status 400 and an empty body.
package struct GlewlwydProvider: Sendable {
    package let base: String
    package let process: ManagedProcess
    /// PEM of the authority that signed its certificate, if it uses TLS.
    package let caFile: String?
    private let bed: TestBed
    private let administrator: HTTPSession
    private let database: String

    package let clientID = "native"
    package let confidentialClientID = "web"
    package let clientSecret = "web-secret"
    /// The issuer.
    package var authority: String { "\(base)/api/oidc" }

    /// Starts and sets up a provider; the lifetime is in seconds, and with a certificate it uses TLS.
    /// Both clients may use the redirect URIs, which glewlwyd compares exactly.
    package static func start(
        in bed: TestBed, redirectURIs: [String], accessLifetime: Int64 = 3600, certificate: TestCertificate? = nil
    ) async throws -> GlewlwydProvider {
        try Prerequisite.glewlwyd.require()
        let port = try FreePort.next()
        let base = "\(certificate == nil ? "http" : "https")://127.0.0.1:\(port)"
        let directory = try bed.makeDirectory("glewlwyd")
        let configuration = try GlewlwydFiles.make(in: directory, port: port, base: base, certificate: certificate)
        let process = try bed.start(Launch("glewlwyd", ["--config-file=\(configuration)"]))
        let administrator = HTTPSession(in: bed, caFile: certificate?.authority)
        try await eventually("glewlwyd answers") {
            try process.requireRunning()
            return (try? await administrator.get("\(base)/config"))?.status == 200
        }
        let provider = GlewlwydProvider(
            base: base, process: process, caFile: certificate?.authority, bed: bed, administrator: administrator,
            database: "\(directory)/glewlwyd.sqlite")
        try await provider.setUp(redirectURIs: redirectURIs, accessLifetime: accessLifetime)
        return provider
    }

    package func stop() async { await process.stop() }

    /// Changes settings of the running provider, with immediate effect (`access-token-duration`, `refresh-token-one-use` …).
    package func tune(_ changes: JSONObject) async throws {
        var plugin = try await administer("GET", "/mod/plugin/oidc").objectValue ?? [:]
        let parameters = plugin["parameters"]?.objectValue ?? [:]
        plugin["parameters"] = .object(parameters.merging(changes) { $1 })
        try await administer("PUT", "/mod/plugin/oidc", .object(plugin))
        try await administer("PUT", "/mod/plugin/oidc/reset")
    }

    /// From now on ID tokens are signed with another key, with another id.
    package func changeSigningKey() async throws {
        try await tune(["jwks-private": .string(try GlewlwydSettings.newKeySet(named: "test-2"))])
    }

    /// Processes an authorization request like glewlwyd's login page: password, consent, and redirect to
    /// the application.
    ///
    /// - Parameters:
    ///   - scope: the scope of a pushed request, whose URL does not contain it.
    ///   - session: a browser that keeps its cookies; by default a new one.
    package func signIn(
        _ person: Person, at url: String, scope: String? = nil, session: HTTPSession? = nil
    ) async throws -> ProviderRedirect {
        guard let request = URLComponents(string: url)?.queryItems else { throw ProcessFailure("Not a URL: \(url)") }
        func parameter(_ name: String) -> String { request.first { $0.name == name }?.value ?? "" }
        let browser = session ?? HTTPSession(in: bed, caFile: caFile)
        try await enterPassword(of: person, in: browser)
        try await consent(to: scope ?? parameter("scope"), for: parameter("client_id"), in: browser)
        return try await open(url, answered: true, session: browser).goesBack()
    }

    /// The page to which an authorization request leads a browser, before any input.
    package enum Answer: Sendable {
        /// The login page, with glewlwyd's parameters (`prompt`, `refresh_login` …).
        case page([String: String])
        /// Back to the application.
        case redirect(ProviderRedirect)

        package func goesBack() throws -> ProviderRedirect {
            guard case .redirect(let back) = self else { throw ProcessFailure("glewlwyd shows a page: \(self)") }
            return back
        }

        package func isPage() throws -> [String: String] {
            guard case .page(let page) = self else { throw ProcessFailure("glewlwyd shows no page: \(self)") }
            return page
        }
    }

    /// Opens an authorization request.
    ///
    /// - Parameter answered: like the login page after the person has done what it asked for.
    package func open(_ url: String, answered: Bool = false, session: HTTPSession) async throws -> Answer {
        let reply = try await session.get(answered ? "\(url)&g_continue" : url)
        guard let location = reply.header("location") else {
            throw ProcessFailure("glewlwyd did not redirect: \(reply.status) \(reply.text.prefix(300))")
        }
        return location.hasPrefix("\(base)/") ? .page(try parameters(of: reply)) : .redirect(.init(url: location))
    }

    /// Acts at the device verification page like a person with a code from another device: password, consent to
    /// the displayed request, and the code again.
    package func approve(_ person: Person, at verificationURL: String) async throws {
        let browser = HTTPSession(in: bed, caFile: caFile)
        try await enterPassword(of: person, in: browser)
        let asking = try await parameters(of: browser.get(verificationURL))
        try await consent(to: asking["scope"] ?? "", for: asking["client_id"] ?? "", in: browser)
        let answer = try await parameters(of: browser.get("\(verificationURL)&g_continue"))
        guard answer["prompt"] == "deviceComplete" else { throw ProcessFailure("glewlwyd took no code: \(answer)") }
    }

    /// Whether an app has polled for a device code at least once.
    package func deviceCodeWasAskedFor() async throws -> Bool {
        // A code without a poll has an earlier date.
        let question = """
            SELECT count(*) FROM gpo_device_authorization
            WHERE gpoda_last_check >= CAST(strftime('%s', gpoda_created_at) AS INTEGER);
            """
        return try GlewlwydFiles.integer(question, in: database) > 0
    }

    /// The time of an app's last poll for a device code, in seconds since 1970.
    package func deviceCodeAskedForAt() throws -> Int64 {
        try GlewlwydFiles.integer("SELECT max(gpoda_last_check) FROM gpo_device_authorization;", in: database)
    }

    /// Gets a separate device code for the public client, polls for it twice at once, and returns the errors.
    package func askTooOften() async throws -> [String] {
        let client = HTTPSession(in: bed, caFile: caFile)
        let names = [(name: "client_id", value: clientID), (name: "scope", value: "openid")]
        let code = try await client.send("POST", "\(authority)/device_authorization", body: .form(names)).json()
        let form = [
            (name: "grant_type", value: "urn:ietf:params:oauth:grant-type:device_code"),
            (name: "client_id", value: clientID),
            (name: "device_code", value: code.objectValue?["device_code"]?.stringValue ?? ""),
        ]
        var errors: [String] = []
        for _ in 1...2 {
            let answer = try await client.send("POST", "\(authority)/token", body: .form(form)).json()
            errors.append(answer.objectValue?["error"]?.stringValue ?? "none")
        }
        return errors
    }

    /// Ends the session like the page of an end-session URL, and returns the page's next URL.
    package func signOut(at url: String, session: HTTPSession) async throws -> ProviderRedirect {
        let page = try await parameters(of: session.get(url))
        guard page["prompt"] == "end_session", let sid = page["sid"], let back = page["callback_url"] else {
            throw ProcessFailure("glewlwyd shows no page that ends the session and leads back: \(page)")
        }
        for path in ["/oidc/session/\(sid)", "/auth/"] {
            let reply = try await session.send("DELETE", "\(base)/api\(path)")
            guard reply.status == 200 else { throw ProcessFailure("glewlwyd: DELETE \(path): \(reply.status)") }
        }
        return ProviderRedirect(url: back)
    }

    private func enterPassword(of person: Person, in browser: HTTPSession) async throws {
        let password: JSONValue = ["username": .string(person.name), "password": .string(person.password)]
        let signedIn = try await browser.send("POST", "\(base)/api/auth", body: .json(password))
        guard signedIn.status == 200 else { throw ProcessFailure("glewlwyd refused the password.") }
    }

    private func consent(to scope: String, for client: String, in browser: HTTPSession) async throws {
        let consent = try await browser.send(
            "PUT", "\(base)/api/auth/grant/\(client)", body: .json(["scope": .string(scope)]))
        guard consent.status == 200 else { throw ProcessFailure("glewlwyd refused the consent: \(consent.text)") }
    }

    /// The parameters of a redirect to glewlwyd's page, which is a JavaScript application.
    private func parameters(of reply: HTTPReply) throws -> [String: String] {
        guard let location = reply.header("location") else {
            throw ProcessFailure("glewlwyd did not redirect: \(reply.status) \(reply.text.prefix(300))")
        }
        // A plus in a form means a space, which URLComponents does not decode.
        let items = URLComponents(string: location.replacing("+", with: "%20"))?.queryItems ?? []
        return Dictionary(items.map { ($0.name, $0.value ?? "") }) { $1 }
    }

    /// The same on glewlwyd's own login page, until the button that leads back to the application.
    package func signIn(_ person: Person, at url: String, in browser: HeadlessBrowser) async throws {
        try await browser.open(url)
        try await browser.fill(browser.find("#username"), person.name)
        try await browser.fill(browser.find("#password"), person.password)
        try await browser.click(browser.find("#passwordForm .btn-primary"))
        // The consent page: one box a scope, a button that grants the checked ones, and another one that continues.
        let grant = try await browser.findButton("Grant access")
        for box in try await browser.findAll("input[id^='grant-']") { try await browser.click(box) }
        try await browser.click(grant)
        try await browser.click(browser.findButton("Continue"))
    }

    private func setUp(redirectURIs: [String], accessLifetime: Int64) async throws {
        // The account of every new glewlwyd.
        try await administer("POST", "/auth", ["username": "admin", "password": "password"])
        for scope in GlewlwydSettings.scopes {
            let (method, path) = scope == "openid" ? ("PUT", "/scope/openid") : ("POST", "/scope/")
            try await administer(method, path, GlewlwydSettings.scope(scope))
        }
        let plugin = try GlewlwydSettings.plugin(issuer: authority, accessLifetime: accessLifetime)
        try await administer("POST", "/mod/plugin/", plugin)
        for person in [Person.alice, .bob] {
            try await administer("POST", "/user/", GlewlwydSettings.user(person))
        }
        try await letClientsHaveSeveralWaysBack()
        for secret in [nil, clientSecret] {
            let id = secret == nil ? clientID : confidentialClientID
            try await administer(
                "POST", "/client/", GlewlwydSettings.client(id, secret: secret, redirectURIs: redirectURIs))
        }
    }

    /// A new glewlwyd stores one `post_logout_redirect_uri`, but its end-session endpoint reads a list of another name.
    private func letClientsHaveSeveralWaysBack() async throws {
        var module = try await administer("GET", "/mod/client/database").objectValue ?? [:]
        var parameters = module["parameters"]?.objectValue ?? [:]
        var format = parameters["data-format"]?.objectValue ?? [:]
        format["post_logout_redirect_uris"] = ["multiple": true, "read": true, "write": true]
        parameters["data-format"] = .object(format)
        module["parameters"] = .object(parameters)
        try await administer("PUT", "/mod/client/database", .object(module))
        try await administer("PUT", "/mod/client/database/reset")
    }

    @discardableResult
    private func administer(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> JSONValue {
        let reply = try await administrator.send(method, "\(base)/api\(path)", body: body.map { .json($0) })
        guard reply.status == 200 else {
            throw ProcessFailure("glewlwyd: \(method) \(path): \(reply.status) \(reply.text.prefix(500))")
        }
        return reply.body.isEmpty ? .null : try reply.json()
    }
}

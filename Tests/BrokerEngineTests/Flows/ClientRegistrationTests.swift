import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Synchronization
import Testing

@Suite("Registration at the provider")
struct ClientRegistrationTests {
    private func register(
        _ bed: EngineBed, _ change: (inout AppRegistration) -> Void = { _ in }
    ) async throws -> AppRegistration {
        var draft = Sample.app()
        draft.clientID = ""
        draft.scopes = ["mail.read"]
        change(&draft)
        return try await bed.engine.registerAtProvider(
            draft, isConfidential: true, initialAccessToken: Secret("iat")
        ).app
    }

    @Test("the registered client has the app's metadata and the broker's scopes")
    func made() async throws {
        let bed = try await EngineBed()
        bed.provider.whenRegistering { request in
            #expect(request.clientName == "mail")
            #expect(request.scopes == Scopes(["openid", "profile", "offline_access", "mail.read"]))
            #expect(request.initialAccessToken == Secret("iat"))
            return .success(RegisteredClient(clientID: "c-1", clientSecret: Secret("s-1")))
        }
        let app = try await register(bed)
        #expect(app.clientID == "c-1")
        #expect(app.clientSecret == Secret("s-1"))
        #expect(app.name == "mail")
    }

    @Test("a client is registered without offline_access if the provider publishes none")
    func noOfflineAccess() async throws {
        let bed = try await EngineBed()
        bed.provider.offer { $0.scopesSupported = ["openid"] }
        bed.provider.whenRegistering { request in
            #expect(request.scopes == Scopes(["openid", "profile", "mail.read"]))
            return .success(RegisteredClient(clientID: "c-1", clientSecret: Secret("s-1")))
        }
        _ = try await register(bed)
    }

    @Test(
        "a client without a redirect URI of its own gets and keeps a unique path")
    func ownPath() async throws {
        let bed = try await EngineBed()
        let registered = Mutex<[String]>([])
        bed.provider.whenRegistering { request in
            registered.withLock { $0 += request.redirectURIs }
            return .success(RegisteredClient(clientID: "c-1"))
        }
        let apps = [try await register(bed), try await register(bed)]
        let uris = registered.withLock { $0 }
        #expect(apps.map(\.redirectURI) == uris)
        #expect(Set(uris).count == 2)
        for (app, uri) in zip(apps, uris) {
            #expect(uri.hasPrefix("http://127.0.0.1/") && uri.count > "http://127.0.0.1/".count + 20)
            let path = String(uri.dropFirst("http://127.0.0.1".count))
            #expect(
                try RedirectDestination.parse(app.redirectURI) == .loopback(.anyPort(host: "127.0.0.1", path: path)))
        }
    }

    @Test("the client authenticates with the method that the provider registered")
    func secretMethod() async throws {
        let bed = try await EngineBed()
        bed.provider.whenRegistering { _ in
            var client = RegisteredClient(clientID: "c-1", clientSecret: Secret("s-1"))
            client.secretMethod = .post
            return .success(client)
        }
        let app = try await register(bed)
        #expect(app.secretMethod == .post)
        try await bed.signIn("alice", app)
        #expect(bed.provider.told.last?.client.method == .post)
    }

    @Test("an app's own redirect URI is registered")
    func redirect() async throws {
        let bed = try await EngineBed()
        bed.provider.whenRegistering { request in
            #expect(request.redirectURIs == ["http://localhost:4711/cb"])
            return .success(RegisteredClient(clientID: "c-1"))
        }
        _ = try await register(bed) { $0.redirectURI = "http://localhost:4711/cb" }
    }

    @Test(
        "a refusal by the provider is reported in words",
        arguments: [
            ("invalid_token", ErrorKind.unauthorizedClient), ("invalid_redirect_uri", .invalidParameter),
            ("invalid_client_metadata", .invalidParameter), ("server_error", .serverUnavailable),
        ])
    func refused(word: String, kind: ErrorKind) async throws {
        let bed = try await EngineBed()
        bed.provider.whenRegistering { _ in .failure(.refused(OAuthRefusal(error: word, status: 400))) }
        let failure = await #expect(throws: BrokerError.self) { try await register(bed) }
        #expect(failure?.kind == kind)
        #expect(failure?.details.oauthError == word)
    }

    @Test("a provider without registration does not support it")
    func notOffered() async throws {
        let bed = try await EngineBed()
        let failure = await #expect(throws: BrokerError.self) { try await register(bed) }
        #expect(failure?.kind == .unsupported)
    }
}

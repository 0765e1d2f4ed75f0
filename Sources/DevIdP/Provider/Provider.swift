import Hummingbird
import Synchronization

/// One provider: what was chosen at its start, and what it remembers. Its endpoints are extensions in `Endpoints/`.
final class Provider: Sendable {
    let options: ProviderOptions
    let clients: ClientDirectory
    let state: Mutex<ProviderState>
    let keys: Mutex<SigningKeys>
    let faults: Mutex<FaultPlan>
    let log = Mutex(RequestLog())
    /// Scheme, host and port; known once the socket is bound.
    private let origin = Mutex("")

    init(_ options: ProviderOptions, keys: SigningKeys) {
        self.options = options
        self.keys = Mutex(keys)
        clients = ClientDirectory(options.clients, allowsAny: options.allowsAnyClient)
        state = Mutex(ProviderState(policy: options.policy))
        faults = Mutex(FaultPlan(options.faults))
    }

    var issuer: String { origin.withLock { $0 } + options.issuerPath }

    /// The port is in it, because browsers keep cookies of one host apart by name only.
    var cookieName: String {
        "dev-idp-" + origin.withLock { String($0.reversed().prefix { $0 != ":" }.reversed()) }
    }

    func setOrigin(_ text: String) { origin.withLock { $0 = text } }

    func now() -> Int { options.now() + state.withLock { $0.clockOffset } }

    func user(_ username: String) -> ProviderUser? {
        options.users.first { $0.username == username || $0.email == username }
    }

    func endpoint(of path: String) -> Endpoint {
        if path.hasPrefix("/control/") { return .control }
        if path == "/.well-known/oauth-authorization-server" + options.issuerPath { return .discovery }
        guard path.hasPrefix(options.issuerPath) else { return .other }
        return Endpoint.paths[String(path.dropFirst(options.issuerPath.count))] ?? .other
    }

    func isOwnHost(_ authority: String?) -> Bool {
        guard let authority else { return false }
        return ["127.0.0.1", "[::1]", "localhost"].contains { host in
            authority == host || authority.hasPrefix(host + ":")
        }
    }

    func sign(_ claims: IDTokenClaims) async throws -> String {
        try await keys.withLock { $0 }.sign(claims, by: options.idTokenAlgorithm)
    }

    /// The claims of an ID token that this provider signed, expired or not.
    func verifiedHint(_ token: String?) async -> IDTokenClaims? {
        guard let token else { return nil }
        let claims = try? await keys.withLock { $0 }.collection.verify(token, as: IDTokenClaims.self)
        return claims?.iss == issuer ? claims : nil
    }
}

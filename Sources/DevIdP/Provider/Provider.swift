import Hummingbird
import Synchronization

/// One provider: its options and its state. Its endpoints are extensions in `Endpoints/`.
final class Provider: Sendable {
    let options: ProviderOptions
    let flavor: any Flavor
    let clients: Mutex<ClientDirectory>
    let people: Mutex<PeopleDirectory>
    let state: Mutex<ProviderState>
    let keys: Mutex<SigningKeys>
    let faults: Mutex<FaultPlan>
    let log = Mutex(RequestLog())
    private let place = Mutex(Place())

    /// Set after the socket is bound.
    private struct Place {
        var origin = ""
        var port = 0
    }

    init(_ options: ProviderOptions, keys: SigningKeys) {
        self.options = options
        self.keys = Mutex(keys)
        switch options.flavor {
        case .openID:
            flavor = OpenIDFlavor(
                issuerPath: options.issuerPath, scopes: options.scopes,
                allowsRegistration: options.allowsRegistration)
            people = Mutex(PeopleDirectory(options.users))
        case .entra(let directory):
            flavor = EntraFlavor(directory: directory)
            people = Mutex(PeopleDirectory(directory.withAddresses(options.users)))
        }
        clients = Mutex(ClientDirectory(options.clients, allowsAny: options.allowsAnyClient))
        state = Mutex(ProviderState(policy: options.policy))
        faults = Mutex(FaultPlan(options.faults))
    }

    /// Scheme, host and port.
    var origin: String { place.withLock { $0.origin } }

    /// The parent of the provider's own pages.
    var base: String { origin + options.issuerPath }

    /// It contains the port because browsers separate cookies of one host by name only.
    var cookieName: String { place.withLock { "dev-idp-\($0.port)" } }

    func setPlace(host: String, port: Int) {
        place.withLock { $0 = Place(origin: "http://\(host):\(port)", port: port) }
    }

    func now() -> Int { options.now() + state.withLock { $0.clockOffset } }

    func user(_ username: String) -> ProviderUser? { people.withLock { $0.user(username) } }

    func client(_ id: String) -> ProviderClient? { clients.withLock { $0.client(id) } }

    func clientName(_ id: String) -> String { client(id)?.name ?? id }

    func realm(of context: ProviderContext) throws(OAuthFailure) -> Realm {
        try flavor.realm(origin: origin, tenant: context.parameters.get("tenant"))
    }

    func endpoint(of path: String) -> Endpoint {
        if path.hasPrefix("/control/") { return .control }
        if path == "/.well-known/oauth-authorization-server" + options.issuerPath { return .discovery }
        if path.hasPrefix(options.issuerPath),
            let page = Endpoint.pages[String(path.dropFirst(options.issuerPath.count))]
        {
            return page
        }
        if options.flavor != .openID, path == "/common" + EntraFlavor.instancePath { return .discovery }
        return flavor.pathBelowRealm(path).flatMap { flavor.paths.endpoint(of: $0) } ?? .other
    }

    /// The tenant in a path, if there are tenants.
    func tenant(of path: String) -> String? {
        guard options.flavor != .openID, flavor.pathBelowRealm(path).map(flavor.paths.endpoint(of:)) != nil else {
            return nil
        }
        return path.split(separator: "/").first.map(String.init)
    }

    func isOwnHost(_ authority: String?) -> Bool {
        guard let authority else { return false }
        return ["127.0.0.1", "[::1]", "localhost"].contains { host in
            authority == host || authority.hasPrefix(host + ":")
        }
    }

    func sign(_ claims: [String: JSON], type: String = "JWT") throws -> String {
        try keys.withLock { $0 }.sign(claims, by: options.idTokenAlgorithm, type: type)
    }

    /// The claims of an ID token signed by this provider, expired or not.
    func verifiedHint(_ token: String?) -> IDTokenHint? {
        guard let token, let claims = keys.withLock({ $0 }).verifiedClaims(of: token),
            let audience = claims["aud"]?.string, let subject = claims["sub"]?.string,
            let username = state.withLock({ $0.subjects[subject] })
        else { return nil }
        return IDTokenHint(clientID: audience, username: username, sessionID: claims["sid"]?.string)
    }
}

/// The recipient and the subject of an ID token.
struct IDTokenHint: Sendable {
    let clientID: String
    let username: String
    let sessionID: String?
}

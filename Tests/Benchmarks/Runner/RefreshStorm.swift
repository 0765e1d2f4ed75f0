import BrokerRPC
import BrokerTestSupport
import BrokerValues
import Foundation

/// Many people of one app, all of whose tokens are refreshed at once, at a provider that gets the processor last.
struct RefreshStorm {
    private static let app = "bench-storm"
    private static let people = (0..<1_000).map { Person(name: "person-\($0)", password: "secret") }
    private static let redirectURI = "http://127.0.0.1/callback"
    /// Beside them, for what the provider itself can do.
    private static let bareRefreshes = 500

    private let provider: BenchProvider
    private let broker: BrokerProcess
    private let bed: TestBed

    struct Outcome {
        /// Of a cached token of another app meanwhile.
        var roundTrips: Distribution
        var refreshesPerSecond: Double
        /// Of a loop around libcurl, with as many at once.
        var bareRefreshesPerSecond: Double
    }

    static func prepare(for broker: BrokerProcess, in bed: TestBed) async throws -> RefreshStorm {
        let users = people.flatMap { ["--user", "\($0.name):\($0.password)"] }
        let provider = try await BenchProvider.start(
            ["--any-client", "--id-token-algorithm", "ES256", "--scope", "api"] + users,
            wrapper: ["/usr/bin/nice", "-n", "19"], in: bed)
        let storm = RefreshStorm(provider: provider, broker: broker, bed: bed)
        try await broker.register(app, clientID: app, authority: provider.issuer)
        try await inParallel(people) { person in
            _ = try await broker.signIn(app: app, in: bed) { try await provider.signIn(person, at: $0, in: bed) }
        }
        return storm
    }

    /// - Parameter beside: what is asked for meanwhile.
    func run(beside load: Load) async throws -> Outcome {
        let lines = Self.people.map { person in
            var params = AcquireTokenSilent.Params(.registered(Self.app), scopes: ["api"])
            params.query.account = .username(person.name)
            params.forceRefresh = true
            return String(decoding: AcquireTokenSilent.requestLine(id: 1, params), as: UTF8.self)
        }
        let (roundTrips, seconds) = try load.beside(lines, sentTo: broker.socket)
        let forms = try await bareForms()
        let bare = try Load.post(forms, to: provider.tokenEndpoint)
        return Outcome(
            roundTrips: roundTrips, refreshesPerSecond: Double(lines.count) / seconds,
            bareRefreshesPerSecond: Double(forms.count) / bare)
    }

    /// Requests to the token endpoint as the broker sends them, of sign-ins without the broker.
    private func bareForms() async throws -> [String] {
        let (provider, bed) = (provider, bed)
        let forms = Recorder<String>()
        try await Self.inParallel(Array(Self.people.prefix(Self.bareRefreshes))) { person in
            let client = try await PlainClient(
                "bare", authority: provider.issuer, redirectURI: Self.redirectURI, http: HTTPSession(in: bed))
            let url = client.authorizationURL(["scope": "openid profile offline_access api"])
            let tokens = try await client.redeem(try await provider.signIn(person, at: url, in: bed)).json()
            guard let token = tokens.objectValue?["refresh_token"]?.stringValue else {
                throw ProcessFailure("The provider gave no refresh token: \(tokens)")
            }
            forms.add("grant_type=refresh_token&client_id=bare&refresh_token=\(token.urlEncoded)")
        }
        return forms.all
    }

    private static func inParallel(
        _ people: [Person], _ body: @escaping @Sendable (Person) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, person) in people.enumerated() {
                if number >= 8 { try await group.next() }
                group.addTask { try await body(person) }
            }
            try await group.waitForAll()
        }
    }
}

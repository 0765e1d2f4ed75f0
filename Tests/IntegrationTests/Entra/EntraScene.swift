import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation

/// An Entra-like provider, and a broker configured for it, with the app `notes` at an authority of it.
struct EntraScene {
    var provider: RunningProvider
    /// Another cloud, Bob's home, if there is one.
    var otherCloud: RunningProvider?
    var broker: BrokerProcess
    let bed: TestBed

    static let scope = "notes.read"
    static let (home, guest) = (EntraDirectory.alpha.id, EntraDirectory.beta.id)

    static func make(
        in bed: TestBed, at tenant: String = "common", options change: (inout ProviderOptions) -> Void = { _ in }
    ) async throws -> EntraScene {
        let provider = try await DevIdentityProvider.start(.entra(), in: bed, change)
        return try await make(in: bed, at: tenant, provider, nil)
    }

    /// Two clouds that know each other. Bob's home is the other one, Alice's the one that the app names.
    ///
    /// - Parameter change: of the app's own cloud.
    static func withTwoClouds(
        in bed: TestBed, options change: @escaping (inout EntraDirectory) -> Void = { _ in }
    ) async throws -> EntraScene {
        let other = try await DevIdentityProvider.start(.entra(), in: bed)
        var directory = EntraDirectory()
        directory.otherClouds = ["bob": other.origin]
        change(&directory)
        let chosen = directory
        let provider = try await DevIdentityProvider.start(.entra(), in: bed) { $0.flavor = .entra(chosen) }
        return try await make(in: bed, at: "common", provider, other)
    }

    private static func make(
        in bed: TestBed, at tenant: String, _ provider: RunningProvider, _ other: RunningProvider?
    ) async throws -> EntraScene {
        let broker = try await start(in: bed, for: provider, other, stateDirectory: nil)
        try await broker.register("notes", clientID: "demo-one", authority: provider.authority(tenant))
        return EntraScene(provider: provider, otherCloud: other, broker: broker, bed: bed)
    }

    private static func start(
        in bed: TestBed, for provider: RunningProvider, _ other: RunningProvider?, stateDirectory: String?
    ) async throws -> BrokerProcess {
        try await BrokerProcess.start(in: bed) { options in
            var configuration = "[provider.\"\(provider.origin)\"]\nkind = \"entra\"\n"
            if let other { configuration += "other_clouds = [\"\(other.origin)\"]\n" }
            options.configuration = configuration
            options.stateDirectory = stateDirectory
        }
    }

    mutating func restart() async throws {
        await broker.stop()
        broker = try await Self.start(in: bed, for: provider, otherCloud, stateDirectory: broker.stateDirectory)
    }

    func signIn(_ more: JSONObject = [:]) async throws -> SignIn {
        let (provider, bed) = (provider, bed)
        return try await broker.signIn(app: "notes", scopes: [Self.scope], more, in: bed) {
            try await provider.signIn(.alice, at: $0, in: bed)
        }
    }

    func silent(_ more: JSONObject = [:]) async throws -> JSONObject {
        try await broker.acquireSilent(app: "notes", scopes: [Self.scope], more)
    }

    func accounts() async throws -> [JSONObject] {
        let listed = try await broker.call("accounts.list", ["app": "notes"])
        return listed["accounts"]?.arrayValue?.compactMap(\.objectValue) ?? []
    }

    /// A request naming another tenant of the provider.
    func at(_ tenant: String) -> JSONObject { ["authority": .string(provider.authority(tenant))] }

    var tokenTenants: [String] { provider.log.filter { $0.endpoint == .token }.compactMap(\.tenant) }
}

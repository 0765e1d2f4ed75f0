import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation

/// A provider shaped like Entra, and a broker that was told so, with the app `notes` at an authority of it.
struct EntraScene {
    var provider: RunningProvider
    var broker: BrokerProcess
    let bed: TestBed

    static let scope = "notes.read"
    static let (home, guest) = (EntraDirectory.alpha.id, EntraDirectory.beta.id)

    static func make(
        in bed: TestBed, at tenant: String = "common", options change: (inout ProviderOptions) -> Void = { _ in }
    ) async throws -> EntraScene {
        var options = ProviderOptions.entra()
        options.allowsAnyClient = true
        change(&options)
        let provider = try await DevIdentityProvider.start(options)
        bed.atEnd { await provider.stop() }
        let broker = try await start(in: bed, for: provider, stateDirectory: nil)
        try await broker.register("notes", clientID: "demo-one", authority: provider.authority(tenant))
        return EntraScene(provider: provider, broker: broker, bed: bed)
    }

    private static func start(
        in bed: TestBed, for provider: RunningProvider, stateDirectory: String?
    ) async throws -> BrokerProcess {
        try await BrokerProcess.start(in: bed) { options in
            options.configuration = "[provider.\"\(provider.origin)\"]\nkind = \"entra\"\n"
            options.stateDirectory = stateDirectory
        }
    }

    mutating func restart() async throws {
        await broker.stop()
        broker = try await Self.start(in: bed, for: provider, stateDirectory: broker.stateDirectory)
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

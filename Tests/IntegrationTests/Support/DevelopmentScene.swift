import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation

/// A development provider in this process, whose faults and log are accessible, and a broker with the app `notes`.
struct DevelopmentScene {
    var provider: RunningProvider
    var broker: BrokerProcess
    let bed: TestBed

    static let scope = "notes.read"
    /// The params of a request for a token of the app.
    static let notes: JSONObject = ["app": "notes", "scopes": [.string(scope)]]

    static func make(
        in bed: TestBed, policy: (inout TokenPolicy) -> Void = { _ in },
        options change: (inout BrokerProcess.Options) -> Void = { _ in }
    ) async throws -> DevelopmentScene {
        let provider = try await startProvider(in: bed, policy: policy)
        let broker = try await BrokerProcess.start(in: bed, change)
        let scene = DevelopmentScene(provider: provider, broker: broker, bed: bed)
        try await scene.register("notes")
        return scene
    }

    /// With Alice signed in.
    static func signedIn(
        in bed: TestBed, policy: (inout TokenPolicy) -> Void = { _ in },
        options change: (inout BrokerProcess.Options) -> Void = { _ in }
    ) async throws -> DevelopmentScene {
        let scene = try await make(in: bed, policy: policy, options: change)
        try await scene.signIn()
        return scene
    }

    static func startProvider(
        in bed: TestBed, policy: (inout TokenPolicy) -> Void = { _ in }
    ) async throws -> RunningProvider {
        try await DevIdentityProvider.start(in: bed) { policy(&$0.policy) }
    }

    func register(_ app: String, clientID: String = "demo-one", _ more: JSONObject = [:]) async throws {
        try await broker.register(app, clientID: clientID, authority: provider.issuer, more)
    }

    @discardableResult
    func signIn(_ person: Person = .alice, app: String = "notes") async throws -> SignIn {
        let (provider, bed) = (provider, bed)
        return try await broker.signIn(app: app, scopes: [Self.scope], in: bed) {
            try await provider.signIn(person, at: $0, in: bed)
        }
    }

    func silent(app: String = "notes", _ more: JSONObject = [:]) async throws -> JSONObject {
        try await broker.acquireSilent(app: app, scopes: [Self.scope], more)
    }

    /// Stops the broker and starts one on the same state.
    mutating func restart(_ change: (inout BrokerProcess.Options) -> Void = { _ in }) async throws {
        await broker.stop()
        try await startAgain(change)
    }

    /// Starts a broker on the state of one that has ended.
    mutating func startAgain(_ change: (inout BrokerProcess.Options) -> Void = { _ in }) async throws {
        let directory = broker.stateDirectory
        broker = try await BrokerProcess.start(in: bed) { options in
            change(&options)
            options.stateDirectory = directory
        }
    }
}

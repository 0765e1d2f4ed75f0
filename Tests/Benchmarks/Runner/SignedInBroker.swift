import BrokerRPC
import BrokerTestSupport
import BrokerValues
import Foundation

/// The real `brokerd`, with an app whose person is signed in at the real development provider.
struct SignedInBroker {
    let broker: BrokerProcess
    let provider: BenchProvider

    static func start(in bed: TestBed) async throws -> SignedInBroker {
        let provider = try await BenchProvider.start(
            ["--any-client", "--access-tokens", "jwt", "--scope", "api"], in: bed)
        let broker = try await BrokerProcess.start(in: bed)
        try await broker.register(app, clientID: "client-\(app)", authority: provider.issuer, ["scopes": ["api"]])
        _ = try await broker.signIn(app: app, in: bed) { try await provider.signIn(.alice, at: $0, in: bed) }
        return SignedInBroker(broker: broker, provider: provider)
    }

    static let app = "bench"

    /// The measured request, as from an app with one account.
    func silentRequest() -> [UInt8] {
        AcquireTokenSilent.requestLine(id: 1, AcquireTokenSilent.Params(.registered(Self.app), scopes: ["api"]))
    }
}

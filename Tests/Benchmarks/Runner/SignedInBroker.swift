import BrokerRPC
import BrokerTestSupport
import BrokerValues
import Foundation

/// The real `brokerd`, with apps whose person signed in at the real development provider.
struct SignedInBroker {
    let broker: BrokerProcess
    let provider: BenchProvider

    static func start(in bed: TestBed) async throws -> SignedInBroker {
        let provider = try await BenchProvider.start(
            ["--any-client", "--access-tokens", "jwt", "--scope", "api"], in: bed)
        let broker = try await BrokerProcess.start(in: bed)
        for app in [app, slowApp] {
            try await broker.register(app, clientID: "client-\(app)", authority: provider.issuer)
            _ = try await broker.signIn(app: app, in: bed) { try await provider.signIn(.alice, at: $0, in: bed) }
        }
        return SignedInBroker(broker: broker, provider: provider)
    }

    static let app = "bench"
    /// Its refreshes hang when they are told to.
    static let slowApp = "bench-slow"

    /// The request that is measured, as an app with one account sends it.
    func silentRequest(_ app: String = Self.app, forceRefresh: Bool = false) -> [UInt8] {
        var params = AcquireTokenSilent.Params(.registered(app), scopes: ["api"])
        params.forceRefresh = forceRefresh
        return AcquireTokenSilent.requestLine(id: 1, params)
    }
}

import BrokerClient
import BrokerTestSupport
import DevIdentityProvider
import Foundation
import Testing

@Suite("A real broker that systemd starts again", .serialized)
struct RealRestartTests {
    @Test("an app does not notice a restart: pending requests are answered, and new ones too")
    func restart() async throws {
        try await withTestBed { bed in
            let provider = try await DevIdentityProvider.start(in: bed)
            let socket = try ServiceSocket(path: bed.path("s"))
            let first = try await BrokerProcess.start(in: bed) { $0.activated = socket }
            try await first.register("notes", clientID: "demo-one", authority: provider.issuer)
            _ = try await first.signIn(app: "notes", scopes: ["notes.read"], in: bed) {
                try await provider.signIn(.alice, at: $0, in: bed)
            }

            var configuration = PublicClientApplicationConfig(app: "notes")
            configuration.socketPath = socket.path
            let app = try PublicClientApplication(configuration: configuration)
            #expect(try await app.allAccounts().count == 1)
            provider.add(Fault(.token, .slow, delay: 0, isHeld: true))
            var parameters = SilentTokenParameters(scopes: ["notes.read"])
            parameters.forceRefresh = true
            let (refresh, accounts) = try await stop(
                first, at: socket.path, while: app, waitsFor: parameters, of: provider)

            let second = try await BrokerProcess.start(in: bed) {
                $0.activated = socket
                $0.stateDirectory = first.stateDirectory
            }
            #expect(try await accounts.value.map(\.username) == ["alice"])
            let token = try await refresh.value
            let cached = try await app.acquireTokenSilent(with: SilentTokenParameters(scopes: ["notes.read"]))
            #expect(cached.accessToken == token.accessToken)
            // systemd's socket accepts before the broker has reported its start.
            try await second.process.waitForText("ready")
        }
    }

    /// The broker has ended; the app requested its accounts just before.
    private func stop(
        _ broker: BrokerProcess, at socket: String, while app: PublicClientApplication,
        waitsFor parameters: SilentTokenParameters, of provider: RunningProvider
    ) async throws -> (Task<TokenResult, any Error>, Task<[Account], any Error>) {
        let refresh = Task { try await app.acquireTokenSilent(with: parameters) }
        try await eventually("the refresh is under way") { provider.refreshes == 1 }
        let observer = try await WireConnection.connect(to: socket)
        _ = try await observer.call("broker.status")
        broker.process.send(SIGTERM)
        try await eventually("the broker turns requests down") {
            do {
                _ = try await observer.call("broker.status")
                return false
            } catch let refusal as Refusal {
                return refusal.reason == "shuttingDown"
            } catch is ConnectionEnded {
                // It closes connections without pending requests.
                return true
            } catch LineClient.Failure.system("send", EPIPE) {
                // The same, noticed a moment earlier.
                return true
            }
        }
        let accounts = Task { try await app.allAccounts() }
        provider.removeFaults()
        #expect(await broker.process.exitStatus() == .exited(0))
        return (refresh, accounts)
    }
}

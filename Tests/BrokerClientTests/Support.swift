import BrokerClient
import BrokerRPC
import BrokerTestSupport
import Foundation

func connection(to broker: ScriptedBroker, patience: Duration = .seconds(600)) -> BrokerConnection {
    BrokerConnection(location: SocketLocation(path: broker.path), patience: patience)
}

func application(_ broker: ScriptedBroker) throws -> PublicClientApplication {
    var configuration = PublicClientApplicationConfig(app: "mail")
    configuration.socketPath = broker.path
    return try PublicClientApplication(configuration: configuration)
}

/// What `body` throws; nil when it returns.
func failure<Value>(_ body: () async throws(BrokerClientError) -> Value) async -> BrokerClientError? {
    do throws(BrokerClientError) {
        _ = try await body()
        return nil
    } catch {
        return error
    }
}

let silent = AcquireTokenSilent.Params(.registered("mail"), scopes: ["email"])

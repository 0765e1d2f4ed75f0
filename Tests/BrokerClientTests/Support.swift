import BrokerClient
import BrokerRPC
import BrokerTestSupport
import Foundation

/// Without liveness checks: its broker gets only the test's own requests, however busy the machine is.
func connection(to broker: ScriptedBroker, patience: Duration = .seconds(600)) -> BrokerConnection {
    var liveness = Liveness()
    liveness.silence = .seconds(3600)
    return BrokerConnection(location: SocketLocation(path: broker.path), patience: patience, liveness: liveness)
}

func application(_ broker: ScriptedBroker) throws -> PublicClientApplication {
    var configuration = PublicClientApplicationConfig(app: "mail")
    configuration.socketPath = broker.path
    return try PublicClientApplication(configuration: configuration)
}

/// The error of `body`; `nil` if it returns.
func failure<Value>(_ body: () async throws(BrokerClientError) -> Value) async -> BrokerClientError? {
    do throws(BrokerClientError) {
        _ = try await body()
        return nil
    } catch {
        return error
    }
}

extension BrokerConnection {
    /// The error of a call; `nil` if it is answered.
    func failure<Method: BrokerMethod>(of method: Method.Type, _ params: Method.Params) async -> BrokerClientError? {
        do throws(BrokerClientError) {
            _ = try await call(method, params)
            return nil
        } catch {
            return error
        }
    }
}

let silent = AcquireTokenSilent.Params(.registered("mail"), scopes: ["email"])

import BrokerAccess
import BrokerModel
import BrokerRPC
import BrokerValues

/// What params say about an app, and what becomes of it when policy lets the caller act as that app.
protocol Admissible: Sendable {
    associatedtype App: Sendable
    /// For the log; nil where no app is named.
    var name: String? { get }
    func admitted(_ context: ConnectionContext, by policy: AccessPolicy) throws(BrokerError) -> App
}

extension AppReference: Admissible {
    var name: String? {
        switch self {
        case .registered(let name): name
        case .adHoc(let clientID, _): "client \(clientID)"
        }
    }

    func admitted(_ context: ConnectionContext, by policy: AccessPolicy) throws(BrokerError) -> AppRegistration {
        try policy.admit(context.caller, as: self)
    }
}

/// Without an app a request is about all of the person's.
extension AppReference?: Admissible {
    var name: String? { self?.name }

    func admitted(_ context: ConnectionContext, by policy: AccessPolicy) throws(BrokerError) -> AppRegistration? {
        guard let self else {
            try policy.requireAdministrator(context.callerNow())
            return nil
        }
        return try policy.admit(context.caller, as: self)
    }
}

extension NoApp: Admissible {
    var name: String? { nil }

    func admitted(_ context: ConnectionContext, by policy: AccessPolicy) -> NoApp { self }
}

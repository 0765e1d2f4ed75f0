import BrokerAccess
import BrokerModel
import BrokerRPC
import BrokerValues

/// What params say about an app, and what becomes of it when policy lets the caller act as that app.
protocol Admissible: Sendable {
    associatedtype App: Sendable
    /// For the log; nil where no app is named.
    var name: String? { get }
    func admitted(
        _ context: ConnectionContext, reaching reach: AppReach, by policy: AccessPolicy
    ) throws(BrokerError) -> Admitted<App>
}

/// The app that a caller was let in as.
struct Admitted<App: Sendable>: Sendable {
    let app: App
    /// What it was let in by, if that is for a part.
    var grant: GrantInUse?
}

extension AppReference: Admissible {
    var name: String? {
        switch self {
        case .registered(let name): name
        case .adHoc(let clientID, _): "client \(clientID)"
        }
    }

    func admitted(
        _ context: ConnectionContext, reaching reach: AppReach, by policy: AccessPolicy
    ) throws(BrokerError) -> Admitted<AppRegistration> {
        let admitted = try policy.admit(context.caller, as: self, reaching: reach)
        return Admitted(app: admitted.app, grant: admitted.grant)
    }
}

/// Without an app a request is about all of the person's.
extension AppReference?: Admissible {
    var name: String? { self?.name }

    func admitted(
        _ context: ConnectionContext, reaching reach: AppReach, by policy: AccessPolicy
    ) throws(BrokerError) -> Admitted<AppRegistration?> {
        guard let self else {
            try policy.requireAdministrator(context.callerNow())
            return Admitted(app: nil)
        }
        let admitted = try policy.admit(context.caller, as: self, reaching: reach)
        return Admitted(app: admitted.app, grant: admitted.grant)
    }
}

extension NoApp: Admissible {
    var name: String? { nil }

    func admitted(_ context: ConnectionContext, reaching reach: AppReach, by policy: AccessPolicy) -> Admitted<NoApp> {
        Admitted(app: self)
    }
}

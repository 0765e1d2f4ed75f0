import BrokerAccess
import BrokerModel
import BrokerRPC
import BrokerValues

/// A request as its handler gets it: the caller may use the method, and act as the app. A class, so that handing it on costs one
/// reference and not dozens.
final class Request<M: BrokerMethod>: Sendable where M.Params.NamedApp: AppNaming {
    let params: M.Params
    /// An `AppRegistration`, an optional one, or ``NoApp``: as the method's params have it.
    let app: M.Params.NamedApp.App
    /// What the caller was let in by, if a person had to agree: nothing that goes beyond it may be answered.
    let grant: GrantInUse?
    let correlationID: String
    let context: ConnectionContext

    init(
        params: M.Params, _ admitted: Admission<M.Params.NamedApp.App>, correlationID: String,
        _ context: ConnectionContext
    ) {
        self.params = params
        (app, grant) = (admitted.app, admitted.grant)
        self.correlationID = correlationID
        self.context = context
    }

    var partition: Partition { context.caller.partition }

    /// Tells the client something before its answer.
    func notify<N: BrokerNotification>(_ notification: N.Type, _ params: N.Params) {
        context.notify(notification, params)
    }
}
